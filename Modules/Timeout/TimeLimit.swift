/// When a run has to end, as the modifier specifies it.
@usableFromInline
enum TimeLimit: Sendable {
  /// Some time after its start.
  case duration(Duration)
  /// At an instant, which is written into the context for the operation inside.
  case deadline(FixedDeadline)
  /// Some time after its start, at an instant that is written into the context for the operation inside.
  case deadlineAfter(Duration)
}

/// An instant, stored by reference because copying it directly looks up its layout at run time.
@usableFromInline
final class FixedDeadline: Sendable {
  let instant: ContinuousClock.Instant

  init(_ instant: ContinuousClock.Instant) {
    self.instant = instant
  }
}
