internal import OperationCore

/// A wait of `flush()`. It ends when the values are written, when writing has failed, or when the task is cancelled.
final class StateFlush: @unchecked Sendable {
  // Unchecked because of the variables, which the lock of the writer guards.

  /// The number of the newest change that the flush waits for.
  var number: UInt64 = 0
  /// Whether none of these changes was left out.
  var isComplete = true
  let outcome = AwaitedOutcome<Bool>()
}
