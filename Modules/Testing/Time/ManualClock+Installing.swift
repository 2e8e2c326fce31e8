public import OperationBackoff
public import OperationCore

extension ManualClock: OperationDelayer {
  /// Waits until the clock has been advanced by `duration`.
  ///
  /// - Throws: `CancellationError` at once when the task is cancelled.
  public func delay(for duration: OperationDuration) async throws {
    try await DelayDeadlines(clock: self).sleep(for: duration)
  }
}

/// The deadlines of a manual clock that count as delays between attempts.
private struct DelayDeadlines: DeadlineSource {
  let clock: ManualClock

  var elapsed: Duration { self.clock.elapsed }

  func schedule(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> OperationSubscription {
    self.clock.schedule(after: duration, kind: .delay, action)
  }
}

extension OperationContext {
  /// Takes dates, delays and deadlines from `clock`.
  public mutating func use(_ clock: ManualClock) {
    self.operationClock = clock
    self.operationDelayer = clock
    self.operationDeadlines = clock
  }
}

extension OperationRequest {
  /// Takes the dates, delays and deadlines of the operation from `clock`.
  ///
  /// The operation's own settings override these, as with every modifier.
  public func manualTime(_ clock: ManualClock) -> ContextModifiedOperation<Self> {
    self.context { $0.use(clock) }.written(".manualTime(_:)")
  }
}
