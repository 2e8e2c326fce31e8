/// Those who wait for one outcome. Joining and leaving take constant time, and a place that was left is used again.
struct WaiterTable<Outcome> {
  /// A place in the table.
  typealias Seat = Int

  enum Waiter {
    /// Has come, and is not suspended yet.
    case arriving
    /// Has left before it was suspended.
    case departed
    case suspended(UnsafeContinuation<Outcome, Never>)
    case vacant
  }

  // Most flights have one waiter: the first needs no allocation.
  private var first = Waiter.vacant
  private var others: [Waiter] = []
  private var vacantSeats: [Seat] = []

  mutating func join() -> Seat {
    if case .vacant = self.first {
      self.first = .arriving
      return 0
    }
    if let seat = self.vacantSeats.popLast() {
      self[seat] = .arriving
      return seat
    }
    self.others.append(.arriving)
    return self.others.count
  }

  subscript(seat: Seat) -> Waiter {
    get { seat == 0 ? self.first : self.others[seat - 1] }
    set {
      if seat == 0 { self.first = newValue } else { self.others[seat - 1] = newValue }
    }
  }

  mutating func vacate(_ seat: Seat) {
    self[seat] = .vacant
    if seat > 0 { self.vacantSeats.append(seat) }
  }

  /// Empties the table, and returns those who are to be resumed, in the order of their seats.
  mutating func removeAll() -> SuspendedWaiters<Outcome> {
    defer { self = WaiterTable() }
    return SuspendedWaiters(first: self.first, others: self.others)
  }
}

/// Waiters that were taken out of their table, to be resumed when no lock is held.
struct SuspendedWaiters<Outcome> {
  fileprivate let first: WaiterTable<Outcome>.Waiter
  fileprivate let others: [WaiterTable<Outcome>.Waiter]

  func resume(returning outcome: Outcome) where Outcome: Sendable {
    if case .suspended(let continuation) = self.first { continuation.resume(returning: outcome) }
    for case .suspended(let continuation) in self.others { continuation.resume(returning: outcome) }
  }
}
