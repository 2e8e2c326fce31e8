internal import OperationCore

/// A run that waits for the probes of a half-open breaker.
final class CircuitWaiter: Sendable {
  typealias Resumption = Waiter<CircuitDecision>.Resumption

  struct State {
    var waiter = Waiter<CircuitDecision>.arriving
    /// The number of the run in its queue.
    fileprivate var number: UInt64 = 0
  }

  // Unsafe because the compiler does not see that the lock of the breaker guards it.
  nonisolated(unsafe) var state = State()
}

/// The decision about a run that begins while the breaker is not closed.
enum CircuitDecision: Sendable {
  /// The run begins, and its result counts in this generation.
  case admitted(UInt64, isProbe: Bool)
  /// The time until the breaker admits a run; nil if it is unknown.
  case rejected(retryAfter: Duration?)
  case cancelled
}

/// The waiting runs, in the order in which they came. Each operation takes constant time on average.
struct CircuitWaiterQueue: Sendable {
  private var waiters: [UInt64: CircuitWaiter] = [:]
  private var firstNumber: UInt64 = 0
  private var nextNumber: UInt64 = 0

  var count: Int { self.waiters.count }

  mutating func append(_ waiter: CircuitWaiter) {
    waiter.state.number = self.nextNumber
    self.waiters[self.nextNumber] = waiter
    self.nextNumber += 1
  }

  mutating func remove(_ waiter: CircuitWaiter) {
    self.waiters[waiter.state.number] = nil
  }

  mutating func popFirst() -> CircuitWaiter? {
    while self.firstNumber < self.nextNumber {
      defer { self.firstNumber += 1 }
      if let waiter = self.waiters.removeValue(forKey: self.firstNumber) { return waiter }
    }
    return nil
  }
}
