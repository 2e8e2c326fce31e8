extension OperationContext {
  /// The instant by which the run has to end; nil without a deadline.
  ///
  /// Modifiers that wait or try again observe it: a retry does not sleep past it, and begins no attempt after it.
  /// Setting it does not end a run by itself; the modifier `deadline(_:)` of `OperationTimeout` does.
  ///
  /// The instant is one of ``operationDeadlines``: see ``DeadlineSource/instant``.
  public var operationDeadline: ContinuousClock.Instant? {
    get { self[DeadlineKey.self] }
    set { self[DeadlineKey.self] = newValue }
  }

  /// The time until ``operationDeadline``, zero when it has passed; nil without a deadline.
  public var operationTimeRemaining: Duration? {
    self.operationDeadline.map { self.operationDeadlines.timeRemaining(until: $0) }
  }

  private enum DeadlineKey: Key {
    static let defaultValue: ContinuousClock.Instant? = nil
  }
}

extension DeadlineSource {
  /// The time until `instant`, at least zero.
  package func timeRemaining(until instant: ContinuousClock.Instant) -> Duration {
    let now = self.instant
    // Compared before the subtraction, which traps where the difference is out of range.
    return instant <= now ? .zero : now.duration(to: instant)
  }
}
