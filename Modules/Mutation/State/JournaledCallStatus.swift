/// The status of a call that a journal keeps until it has ended.
@nonexhaustive(warn)
public enum JournaledCallStatus: String, Hashable, Sendable, CaseIterable {
  /// It is not accepted yet: its time has not come, or it waits for what its schedule waits for.
  case scheduled
  /// The call waits: for its turn, a connection, the next attempt after a failure, or the registration of its name.
  case waiting
  /// It waits for an earlier call of its scope, which has failed, is a dead letter or is in conflict.
  case blocked
  /// The call is being made.
  case running
  /// It has failed too often, and is not made again by itself.
  case deadLetter
  /// Its time has passed, and it is not made again by itself.
  case expired
  /// What it would change was changed meanwhile, and the user decides what becomes of it.
  case conflicted
  /// It has succeeded, and the journal does not have it any more.
  case succeeded
  /// It has failed for good, and the journal does not have it any more.
  case failed

  /// Whether the journal does not have the call any more.
  public var isEnded: Bool { self == .succeeded || self == .failed }
}
