/// When a run has to end, as the user said it.
@usableFromInline
enum TimeLimit: Sendable {
  /// Some time after its start.
  case duration(Duration)
  /// At an instant, which the operation inside knows.
  case deadline(FixedDeadline)
  /// Some time after its start, at an instant which the operation inside knows.
  case deadlineAfter(Duration)
}

/// An instant, by reference: the layout of instants is known at run time only, and is copied through look-ups.
@usableFromInline
final class FixedDeadline: Sendable {
  let instant: ContinuousClock.Instant

  init(_ instant: ContinuousClock.Instant) {
    self.instant = instant
  }
}
