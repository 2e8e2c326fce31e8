public import OperationCore

/// Waits on a clock of the standard library's kind.
public struct ClockDelayer: OperationDelayer, Sendable {
  /// The clock.
  public let clock: any Clock<Duration>

  /// Creates a delayer that waits on `clock`.
  public init(_ clock: any Clock<Duration>) {
    self.clock = clock
  }

  /// Waits on the clock, but never longer than a hundred years: clocks do not take durations near the end of the range.
  ///
  /// - Throws: What the clock throws: `CancellationError` when the task is cancelled.
  public func delay(for duration: OperationDuration) async throws {
    try await self.clock.sleep(for: duration.clampedForClock)
  }
}

extension OperationDelayer where Self == ClockDelayer {
  /// Waits on `clock`.
  public static func clock(_ clock: any Clock<Duration>) -> Self { ClockDelayer(clock) }
}
