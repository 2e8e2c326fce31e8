/// The waiters of one run. Joining and leaving take constant time, and the identifiers of waiters that left are reused.
struct WaiterTable: Sendable {
  /// Resumed with true when the run has finished, with false when the waiter has left.
  typealias Continuation = UnsafeContinuation<Bool, Never>

  /// Identifies a waiter of the table.
  typealias WaiterID = Int

  enum Waiter: Sendable {
    /// The waiter has joined and is not suspended yet.
    case arriving
    /// The waiter has left before it was suspended.
    case left
    case suspended(Continuation)
    /// The identifier is free.
    case vacant
  }

  /// The waiters that joined while `first` was taken.
  struct Others: Sendable {
    var waiters: [Waiter] = []
    var freeIDs: [WaiterID] = []
  }

  // Stored apart: most runs have one waiter, which then needs no allocation.
  var first = Waiter.vacant
  var others: Others?
  /// Whether a waiter has left before it was suspended. Such a waiter stays in the table, also when the run finishes
  /// before it would be suspended: it has left then, and does not receive the outcome.
  private(set) var hasEarlyLeavers = false
  /// False once ``leaveAll()`` was called: each of those waiters may still be about to leave by itself.
  private var reusesIDs = true

  init() {}

  /// Adds a waiter.
  mutating func join() -> WaiterID {
    if self.reusesIDs {
      if case .vacant = self.first {
        self.first = .arriving
        return 0
      }
      if let waiterID = self.others?.freeIDs.popLast() {
        self[waiterID] = .arriving
        return waiterID
      }
    }
    if self.others == nil { self.others = Others() }
    self.others?.waiters.append(.arriving)
    return self.others?.waiters.count ?? 0
  }

  subscript(waiterID: WaiterID) -> Waiter {
    get { waiterID == 0 ? self.first : self.others?.waiters[waiterID - 1] ?? .vacant }
    set {
      if waiterID == 0 { self.first = newValue } else { self.others?.waiters[waiterID - 1] = newValue }
    }
  }

  /// Suspends a waiter and returns nil, unless the waiter has left (false) or the run has finished (true).
  mutating func suspend(_ continuation: Continuation, at waiterID: WaiterID, isFinished: Bool) -> Bool? {
    if case .left = self[waiterID] {
      self.vacate(waiterID)
      return false
    }
    if isFinished { return true }
    self[waiterID] = .suspended(continuation)
    return nil
  }

  /// Lets a waiter leave. Returns the continuation to resume; nil if the waiter is not suspended.
  mutating func leave(_ waiterID: WaiterID) -> Continuation? {
    switch self[waiterID] {
    case .suspended(let continuation):
      self.vacate(waiterID)
      return continuation
    case .arriving:
      self.leaveEarly(waiterID)
      return nil
    case .left, .vacant:
      return nil
    }
  }

  /// Lets all waiters leave. Returns those to resume.
  mutating func leaveAll() -> SuspendedWaiters {
    self.reusesIDs = false
    let waiters = SuspendedWaiters(first: self.first, others: self.others?.waiters)
    if case .vacant = self.first {} else { self.leaveEarly(0) }
    for index in waiters.others?.indices ?? 0..<0 {
      if case .vacant = self[index + 1] { continue }
      self.leaveEarly(index + 1)
    }
    return waiters
  }

  /// Marks a waiter as one that has left.
  mutating func leaveEarly(_ waiterID: WaiterID) {
    self[waiterID] = .left
    self.hasEarlyLeavers = true
  }

  /// Removes a waiter and frees its identifier.
  mutating func vacate(_ waiterID: WaiterID) {
    self[waiterID] = .vacant
    if waiterID > 0 { self.others?.freeIDs.append(waiterID) }
  }

  /// Removes all waiters, except those that have left early. Returns those to resume, in the order of their
  /// identifiers.
  mutating func removeAll() -> SuspendedWaiters {
    let waiters = SuspendedWaiters(first: self.first, others: self.others?.waiters)
    if self.hasEarlyLeavers {
      self.removeAllButEarlyLeavers()
    } else {
      self.first = .vacant
      self.others = nil
    }
    return waiters
  }

  private mutating func removeAllButEarlyLeavers() {
    func keep(_ waiter: Waiter) -> Waiter {
      if case .left = waiter { .left } else { .vacant }
    }
    self.first = keep(self.first)
    if let others = self.others { self.others = Others(waiters: others.waiters.map(keep)) }
  }
}

/// Waiters that were removed from their table, to be resumed after unlocking.
struct SuspendedWaiters: Sendable {
  let first: WaiterTable.Waiter
  let others: [WaiterTable.Waiter]?

  func resume(returning hasFinished: Bool) {
    if case .suspended(let continuation) = self.first { continuation.resume(returning: hasFinished) }
    guard let others else { return }
    for case .suspended(let continuation) in others { continuation.resume(returning: hasFinished) }
  }
}
