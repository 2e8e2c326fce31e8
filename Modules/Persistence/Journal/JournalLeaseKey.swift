internal import OperationCore

/// Names a lease: one journal at a time, among all processes that share a storage, makes the calls that it is for.
enum JournalLeaseKey: Hashable, Sendable {
  /// For the calls without a scope that a journal has accepted.
  ///
  /// The journal has this lease while its process lives; afterwards another process can take it.
  ///
  /// If the name is nil: for calls of journals without a name, and of scopes with names too long for a lease.
  case journal(String?)
  /// For the calls of a scope.
  case scope(String)

  /// The longest name of a scope with a lease of its own, in bytes. Databases limit the length of an index.
  static let maximumScopeLength = 1_000

  /// The lease for the calls of a scope, or of a journal without one.
  init(ofScope scope: String?, owner: String?) {
    if let scope {
      self = scope.utf8.count <= Self.maximumScopeLength ? .scope(scope) : .journal(nil)
    } else {
      self = .journal(owner)
    }
  }

  /// The lease by which another process keeps this one from making a call: if the other one is to make it, that by which
  /// its journal lives.
  static func ofWait(isElsewhere: Bool, scope: String?, owner: String?) -> Self {
    isElsewhere ? .journal(owner) : Self(ofScope: scope, owner: owner)
  }

  /// The name of its lease.
  var lease: String {
    switch self {
    case .journal(nil): "journal"
    case .journal(let owner?): "journal/\(owner)"
    case .scope(let scope): "journal:\(scope)"
    }
  }
}

/// The leases that a journal has, and the leases that it asks for.
struct JournalLeases: Sendable {
  /// The leases that it has; nil if no other process can send.
  var held: Set<JournalLeaseKey>?
  /// Until when other processes have leases, by the deadlines, unless they renew them.
  var others: [JournalLeaseKey: Duration] = [:]
  /// The leases that calls wait for.
  var asked: Set<JournalLeaseKey> = []
  /// The scopes among them with calls that are made again.
  var askedForReplays: Set<String> = []
  /// For each lease, the number of calls that need it: calls that are made, or are to be made.
  var needs: [JournalLeaseKey: Int] = [:]
  /// The scopes in which calls wait behind a first call that another process makes.
  var scopesElsewhere: Set<String> = []
  /// The number of calls to make again that other processes make.
  var dueElsewhere = 0
  /// The calls without a scope that are to be made again, and wait for the lease.
  var dueCalls: [JournalLeaseKey: [JournalState.Position]] = [:]
  /// The tasks that wait before an attempt.
  var sendWaiters: [JournalLeaseKey: [SendWaiter]] = [:]
  /// The tasks that wait until it is known whether the lease is held.
  var decisionWaiters: [JournalLeaseKey: [AwaitedOutcome<Void>]] = [:]

  /// Removes tasks that wait before an attempt, and returns what wakes them.
  mutating func removeSendWaiters(
    of leaseKey: JournalLeaseKey,
    where isRemoved: (SendWaiter) -> Bool = { _ in true }
  ) -> [AwaitedOutcome<Void>] {
    let waiters = self.sendWaiters[leaseKey] ?? []
    let rest = waiters.filter { !isRemoved($0) }
    self.sendWaiters[leaseKey] = rest.isEmpty ? nil : rest
    return waiters.filter(isRemoved).map(\.signal)
  }

  /// Changes the number of calls that need a lease, and returns it.
  mutating func count(_ leaseKey: JournalLeaseKey, _ change: Int) -> Int {
    let count = (self.needs[leaseKey] ?? 0) + change
    self.needs[leaseKey] = count == 0 ? nil : count
    return count
  }
}

/// A task that waits for a lease before an attempt.
struct SendWaiter: Sendable {
  let signal = AwaitedOutcome<Void>()
  /// Whether the attempt need not be made.
  let mayLeave: Bool
}

/// The error of a change that is not stored because the lease for its call was lost.
struct JournalLeaseLost: Error {}
