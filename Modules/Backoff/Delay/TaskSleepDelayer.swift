public import OperationCore

/// Waits in the current task, on the deadline queue that the whole process shares.
///
/// A cancelled delay is removed from the queue at once.
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
  /// Waits in the current task, on the deadline queue that the whole process shares.
  public static var taskSleep: Self { TaskSleepDelayer() }
}
