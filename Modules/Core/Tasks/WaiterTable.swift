/// Those who wait for one outcome. Joining and leaving take constant time, and a place that was left is used again.
@usableFromInline
struct WaiterTable: Sendable {
  /// Resumed with true when the run has finished, with false when the waiter has left.
  @usableFromInline typealias Continuation = UnsafeContinuation<Bool, Never>

  /// A place in the table.
  @usableFromInline typealias WaiterID = Int

  @usableFromInline
  enum Waiter: Sendable {
    /// Has come, and is not suspended yet.
    case arriving
    /// Has left before it was suspended.
    case left
    case suspended(Continuation)
    case vacant
  }

  /// Those who have come while the first was there.
  struct Others: Sendable {
    var waiters: [Waiter] = []
    var freeIDs: [WaiterID] = []
  }

  // Most runs have one waiter: the first needs no allocation.
  var first = Waiter.vacant
  var others: Others?

  @usableFromInline
  init() {}

  mutating func join() -> WaiterID {
    if case .vacant = self.first {
      self.first = .arriving
      return 0
    }
    if let waiterID = self.others?.freeIDs.popLast() {
      self[waiterID] = .arriving
      return waiterID
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

  mutating func vacate(_ waiterID: WaiterID) {
    self[waiterID] = .vacant
    if waiterID > 0 { self.others?.freeIDs.append(waiterID) }
  }

  /// Empties the table, and returns those who are to be resumed, in the order of their waiters.
  mutating func removeAll() -> SuspendedWaiters {
    let waiters = SuspendedWaiters(first: self.first, others: self.others?.waiters)
    self.first = .vacant
    self.others = nil
    return waiters
  }
}

/// Waiters that were taken out of their table, to be resumed when no lock is held.
@usableFromInline
struct SuspendedWaiters: Sendable {
  @usableFromInline let first: WaiterTable.Waiter
  @usableFromInline let others: [WaiterTable.Waiter]?

  @usableFromInline
  func resume() {
    if case .suspended(let continuation) = self.first { continuation.resume(returning: true) }
    guard let others else { return }
    for case .suspended(let continuation) in others { continuation.resume(returning: true) }
  }
}
