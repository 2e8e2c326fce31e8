internal import OperationCore

/// A right to make calls, which one journal has at a time among all processes that share a storage.
enum JournalRight: Hashable, Sendable {
  /// To make the calls without a scope that a journal has accepted. It has this right while its process lives; after its
  /// end another one takes it.
  ///
  /// With nil, to make calls of journals without a name, and those in scopes whose names are too long for a lease.
  case journal(String?)
  /// To make the calls of a scope.
  case scope(String)

  /// The longest name of a scope with a right of its own, in bytes. Databases limit the length of an index.
  static let maximumScopeLength = 1_000

  /// The name of its lease.
  var lease: String {
    switch self {
    case .journal(nil): "journal"
    case .journal(let owner?): "journal/\(owner)"
    case .scope(let scope): "journal:\(scope)"
    }
  }
}

/// The rights that a journal has, and those that it asks for.
struct JournalRights: Sendable {
  /// Those that it has; nil if no other process can send.
  var held: Set<JournalRight>?
  /// Those without which something does not begin.
  var asked: Set<JournalRight> = []
  /// The scopes among them whose calls are made again.
  var askedForReplays: Set<String> = []
  /// The numbers of calls that are made, or are to be made, by the rights that they need.
  var needs: [JournalRight: Int] = [:]
  /// The scopes whose first calls other processes make, and in which others wait behind them.
  var lanesElsewhere: Set<String> = []
  /// The number of calls that are to be made again, and that other processes make.
  var dueElsewhere = 0
  /// The calls without a scope that are to be made again, and cannot be without the right.
  var dueCalls: [JournalRight: [JournalState.Place]] = [:]
  /// Those who wait before an attempt.
  var sendWaiters: [JournalRight: [AwaitedOutcome<Void>]] = [:]
  /// Those who wait until it is known whether the right is held.
  var decisionWaiters: [JournalRight: [AwaitedOutcome<Void>]] = [:]

  mutating func count(_ right: JournalRight, _ change: Int) {
    let count = (self.needs[right] ?? 0) + change
    self.needs[right] = count == 0 ? nil : count
  }
}

/// The error of a change that is not stored: the right to make its call was lost before.
struct JournalRightLost: Error {}
