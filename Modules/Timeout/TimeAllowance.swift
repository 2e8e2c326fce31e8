public import OperationCore

/// The time that one run has.
@usableFromInline
struct TimeAllowance: Sendable {
  /// The elapsed time, by the run's deadlines, at which the run ends.
  @usableFromInline let end: Duration
  /// The time that the run has.
  @usableFromInline let duration: Duration
  /// The deadline that the callers of the run share, if the run ends at that; nil for another end.
  let shared: SharedDeadline?
  /// The time that was asked for. It is longer than the time that is left when the run of a deadline has begun before.
  let asked: Duration

  /// The time of a run that starts now. A deadline is written into the context.
  @usableFromInline
  init(_ limit: TimeLimit, of id: OutcomeModifierIdentifier, in context: inout OperationContext) {
    let start = context.elapsed
    if case .duration(let duration) = limit {
      (self.duration, self.asked) = (duration, duration)
    } else {
      (self.duration, self.asked) = Self.enter(limit, of: id, in: &context)
    }
    if case .ofContext = limit { self.shared = context.sharedDeadline } else { self.shared = nil }
    self.end = start + self.duration.clampedForClock
  }

  /// The time until a deadline that begins now, and the time that was asked for.
  private static func enter(
    _ limit: TimeLimit,
    of id: OutcomeModifierIdentifier,
    in context: inout OperationContext
  ) -> (duration: Duration, asked: Duration) {
    guard let own = limit.instant(in: context) else { return (.zero, .zero) }
    let deadlines = context.operationDeadlines
    if case .ofContext = limit {
      let duration = deadlines.timeRemaining(until: own)
      return (duration, duration)
    }
    // Without a setup, the deadline begins here.
    if let known = context.enterDeadline(id) { return (deadlines.timeRemaining(until: known.instant), known.asked) }
    let earliest = min(own, context.operationDeadline ?? own)
    let duration = deadlines.timeRemaining(until: earliest)
    context.operationDeadline = earliest
    return (duration, earliest == own ? limit.duration ?? duration : duration)
  }
}
