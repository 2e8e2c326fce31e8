/// Those who wait for one outcome. Joining and leaving take constant time, and a place that was left is used again.
@usableFromInline
struct WaiterTable: Sendable {
  /// Resumed with true when the flight has landed, with false when the waiter has left.
  @usableFromInline typealias Continuation = UnsafeContinuation<Bool, Never>

  /// A place in the table.
  @usableFromInline typealias Seat = Int

  @usableFromInline
  enum Waiter: Sendable {
    /// Has come, and is not suspended yet.
    case arriving
    /// Has left before it was suspended.
    case departed
    case suspended(Continuation)
    case vacant
  }

  /// Those who have come while the first was there.
  struct Others: Sendable {
    var waiters: [Waiter] = []
    var vacantSeats: [Seat] = []
  }

  // Most flights have one waiter: the first needs no allocation.
  var first = Waiter.vacant
  var others: Others?

  @usableFromInline
  init() {}

  mutating func join() -> Seat {
    if case .vacant = self.first {
      self.first = .arriving
      return 0
    }
    if let seat = self.others?.vacantSeats.popLast() {
      self[seat] = .arriving
      return seat
    }
    if self.others == nil { self.others = Others() }
    self.others?.waiters.append(.arriving)
    return self.others?.waiters.count ?? 0
  }

  subscript(seat: Seat) -> Waiter {
    get { seat == 0 ? self.first : self.others?.waiters[seat - 1] ?? .vacant }
    set {
      if seat == 0 { self.first = newValue } else { self.others?.waiters[seat - 1] = newValue }
    }
  }

  mutating func vacate(_ seat: Seat) {
    self[seat] = .vacant
    if seat > 0 { self.others?.vacantSeats.append(seat) }
  }

  /// Empties the table, and returns those who are to be resumed, in the order of their seats.
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
