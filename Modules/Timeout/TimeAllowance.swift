public import OperationCore

/// When a run has to end, as the user said it.
@usableFromInline
enum TimeLimit: Sendable {
  /// Some time after its start.
  case duration(Duration)
  /// At an instant, which the operation inside knows.
  case deadline(ContinuousClock.Instant)
  /// Some time after its start, at an instant which the operation inside knows.
  case deadlineAfter(Duration)
}

/// The time of one run.
@usableFromInline
struct TimeAllowance: Sendable {
  /// The elapsed time of the run's deadlines at its start.
  let start: Duration
  /// The time that the run has.
  @usableFromInline let duration: Duration
  /// The instant at which the time is over, if the operation inside knows it.
  @usableFromInline let deadline: ContinuousClock.Instant?

  /// The time of a run that starts now.
  @usableFromInline
  init(_ limit: TimeLimit, in context: OperationContext) {
    let deadlines = context.operationDeadlines
    self.start = deadlines.elapsed
    switch limit {
    case .duration(let duration):
      self.duration = duration
      self.deadline = nil
    case .deadline(let instant):
      let earliest = min(instant, context.operationDeadline ?? instant)
      self.duration = deadlines.timeRemaining(until: earliest)
      self.deadline = earliest
    case .deadlineAfter(let duration):
      let instant = deadlines.instant.advanced(by: duration.clampedForClock)
      let earliest = min(instant, context.operationDeadline ?? instant)
      self.duration = earliest == instant ? duration : deadlines.timeRemaining(until: earliest)
      self.deadline = earliest
    }
  }

  /// The context for the operation inside.
  @usableFromInline
  func applied(to context: OperationContext) -> OperationContext {
    var context = context
    context.operationDeadline = self.deadline
    return context
  }

  /// The rest of the time, by the deadlines of the run.
  func remaining(in context: OperationContext) -> Duration {
    let deadlines = context.operationDeadlines
    return self.duration.clampedForClock - (deadlines.elapsed - self.start)
  }
}
