public import OperationCore

/// Waits in the present task, on the one queue of deadlines that the process has.
///
/// A delay that is cancelled leaves nothing behind.
public struct TaskSleepDelayer: OperationDelayer, Sendable, Hashable {
  /// Creates a delayer.
  public init() {}

  /// Waits for `duration` of monotonic time.
  ///
  /// - Throws: `CancellationError` at once when the task is cancelled.
  public func delay(for duration: OperationDuration) async throws {
    guard duration > .zero else { return try Task.checkCancellation() }
    try await SystemDeadlineSource().sleep(for: duration)
  }
}

extension OperationDelayer where Self == TaskSleepDelayer {
  /// Waits in the present task, on the one queue of deadlines that the process has.
  public static var taskSleep: Self { TaskSleepDelayer() }
}
