public import OperationCore

/// The time that one run has.
@usableFromInline
struct TimeAllowance: Sendable {
  /// The elapsed time of the run's deadlines at its start.
  let start: Duration
  /// The time that the run has.
  @usableFromInline let duration: Duration
  /// The time that was asked for. It is longer than the time that is left when the run of a deadline has begun before.
  let asked: Duration

  /// The time of a run that starts now. A deadline is written into the context.
  @usableFromInline
  init(_ limit: TimeLimit, of id: OutcomeModifierIdentifier, in context: inout OperationContext) {
    self.start = context.elapsed
    guard let own = limit.instant(in: context) else {
      self.duration = limit.duration ?? .zero
      self.asked = self.duration
      return
    }
    let deadlines = context.operationDeadlines
    // Without a setup, the deadline begins here.
    if let known = context.enterDeadline(id) {
      self.duration = deadlines.timeRemaining(until: known.instant)
      self.asked = known.asked
    } else {
      let earliest = min(own, context.operationDeadline ?? own)
      self.duration = deadlines.timeRemaining(until: earliest)
      self.asked = earliest == own ? limit.duration ?? self.duration : self.duration
      context.operationDeadline = earliest
    }
  }

  /// The elapsed time at which the run ends.
  @usableFromInline var end: Duration { self.start + self.duration.clampedForClock }

  /// The remaining time, by the deadlines of the run.
  func remaining(in context: OperationContext) -> Duration {
    self.end - context.elapsed
  }
}
