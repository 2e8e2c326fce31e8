/// How far a call is between its place in the order and the end of its entry. A phase has what no other one has.
///
/// - **reserved**, then **arrived**: the call is not accepted. A removal of all calls refuses it.
/// - **accepted**: its entry is stored. It waits, is made, or is kept for the user.
/// - **removing**, **ended**: its entry is being removed, because of the user or after its run.
/// - **takenOver**: another process has removed its entry, while a body of it runs in this one.
enum JournalPhase: Sendable {
  /// It has only a place: its run has not come to the journal, and may wait for what removes the calls.
  case reserved(isRefused: Bool)
  /// Its run has come, and it is being stored.
  case arrived(isRefused: Bool)
  case accepted
  case removing(Removal)
  /// How its run has ended, for stores that show it; nil if none shows it, or if it was removed meanwhile.
  case ended(JournalEnding?)
  case takenOver

  /// Whether the time of a call has passed, in which it could be made. A body that runs goes on all the same.
  enum Expiry: Sendable {
    case ahead
    case passed
    /// It is being set aside, with this stored form.
    case storing(JournalRecord)

    var hasPassed: Bool { if case .ahead = self { false } else { true } }

    var record: JournalRecord? { if case .storing(let record) = self { record } else { nil } }

    mutating func pass() { if case .ahead = self { self = .passed } }

    mutating func endStoring() { if case .storing = self { self = .passed } }
  }

  /// The removal of an entry.
  struct Removal: Sendable {
    /// The result; nil if there was nothing to write.
    var write: JournalRemoval?
    /// Whether the call was refused before it was accepted, so that its caller does not make it.
    let isOfRefused: Bool
  }

  /// Whether it is in the storage, which makes it accepted.
  var isStored: Bool {
    switch self {
    case .reserved, .arrived: false
    case .accepted, .removing, .ended, .takenOver: true
    }
  }

  /// Whether the next write removes it.
  var isGone: Bool {
    switch self {
    case .removing, .ended: true
    case .reserved, .arrived, .accepted, .takenOver: false
    }
  }

  var isTakenOver: Bool { if case .takenOver = self { true } else { false } }

  /// Whether a removal has refused it before it was accepted.
  var isRefused: Bool {
    switch self {
    case .reserved(let isRefused), .arrived(let isRefused): isRefused
    case .removing(let removal): removal.isOfRefused
    case .accepted, .ended, .takenOver: false
    }
  }

  // MARK: - Transitions

  /// Its run has come to the journal.
  mutating func arrive() { if case .reserved(let isRefused) = self { self = .arrived(isRefused: isRefused) } }

  /// All calls are removed before it is accepted. Returns whether its run has come, so that it is about to be stored.
  mutating func refuse() -> Bool {
    switch self {
    case .reserved:
      self = .reserved(isRefused: true)
      return false
    case .arrived:
      self = .arrived(isRefused: true)
      return true
    case .accepted, .removing, .ended, .takenOver: return false
    }
  }

  /// Its run has ended. The user may have removed it meanwhile.
  mutating func end(with ending: JournalEnding) {
    if case .removing = self { self = .ended(nil) } else { self = .ended(ending) }
  }

  /// Its entry could not be removed. Returns whether it is to be made again, and whether it was refused.
  mutating func endFailedRemoval() -> (isAccepted: Bool, isOfRefused: Bool) {
    guard case .removing(let removal) = self else { return (!self.isGone, false) }
    self = .accepted
    return (true, removal.isOfRefused)
  }
}
