internal import OperationCore

/// The last failure that a limit has seen, for the errors of the runs that it rejects.
final class LastFailure: Sendable {
  private let failure = Locked<(any Error)?>(nil)

  init() {}

  /// The failure; nil before the first one.
  var current: (any Error)? { self.failure.withLock { $0 } }

  /// Replaces the failure.
  func set(_ failure: (any Error)?) {
    // The earlier one is released after unlocking: its `deinit` may be user code.
    self.failure.withLock { current, released in
      released.append(current)
      current = failure
    }
  }
}
