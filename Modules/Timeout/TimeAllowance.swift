public import OperationCore

/// The time that one run has.
@usableFromInline
struct TimeAllowance: Sendable {
  /// The elapsed time of the run's deadlines at its start.
  let start: Duration
  /// The time that the run has.
  @usableFromInline let duration: Duration

  /// The time of a run that starts now. A deadline is written into the context.
  @usableFromInline
  init(_ limit: TimeLimit, in context: inout OperationContext) {
    self.start = context.elapsed
    switch limit {
    case .duration(let duration):
      self.duration = duration
    case .deadline(let deadline):
      let earliest = min(deadline.instant, context.operationDeadline ?? deadline.instant)
      self.duration = context.operationDeadlines.timeRemaining(until: earliest)
      context.operationDeadline = earliest
    case .deadlineAfter(let duration):
      let deadlines = context.operationDeadlines
      let instant = deadlines.instant.advanced(by: duration.clampedForClock)
      let earliest = min(instant, context.operationDeadline ?? instant)
      self.duration = earliest == instant ? duration : deadlines.timeRemaining(until: earliest)
      context.operationDeadline = earliest
    }
  }

  /// The remaining time, by the deadlines of the run.
  func remaining(in context: OperationContext) -> Duration {
    self.duration.clampedForClock - (context.elapsed - self.start)
  }
}
