/// The last failure that a breaker or a limit has seen, for the errors of the runs that it rejects.
package final class LastFailure: Sendable {
  private let failure = Locked<(any Error)?>(nil)

  package init() {}

  /// The failure; nil before the first one.
  package var current: (any Error)? { self.failure.withLock { $0 } }

  /// Replaces the failure.
  package func set(_ failure: (any Error)?) {
    // The earlier one is released after unlocking: its `deinit` may be user code.
    self.failure.withLock { current, released in
      released.append(current)
      current = failure
    }
  }
}
