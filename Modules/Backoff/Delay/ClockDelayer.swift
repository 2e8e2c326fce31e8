public import OperationCore

/// Waits on a standard library `Clock`.
public struct ClockDelayer: OperationDelayer, Sendable {
  /// The clock.
  public let clock: any Clock<Duration>

  /// Creates a delayer that waits on `clock`.
  public init(_ clock: any Clock<Duration>) {
    self.clock = clock
  }

  /// Waits on the clock, for at most a hundred years: clocks fail for durations near the end of the range.
  ///
  /// - Throws: The error of the clock: `CancellationError` when the task is cancelled.
  public func delay(for duration: OperationDuration) async throws {
    try await self.clock.sleep(for: duration.clampedForClock)
  }
}

extension OperationDelayer where Self == ClockDelayer {
  /// Waits on `clock`.
  public static func clock(_ clock: any Clock<Duration>) -> Self { ClockDelayer(clock) }
}
