internal import OperationCore
internal import OperationFoundation

/// A time during which a breaker is open. It is computed before locking, because that calls user code.
final class CircuitOpening: Sendable {
  /// The number of the trip since the breaker was last closed; the first is 1.
  let trip: Int
  /// The elapsed time at which the breaker admits a probe.
  let end: Duration
  /// The date of the end.
  let date: Date
  /// The date of the start.
  let start: Date
  /// The source of the elapsed time.
  let deadlines: any DeadlineSource

  init(trip: Int, length: Duration, in context: OperationContext) {
    let length = length.clampedForClock
    self.trip = trip
    self.deadlines = context.operationDeadlines
    self.end = context.elapsed + length
    let date = context.date
    self.start = date
    self.date = date + length.seconds
  }

  /// An opening that follows an earlier one, without the context of a run.
  init(trip: Int, length: Duration, at start: Duration, after earlier: CircuitOpening) {
    let length = length.clampedForClock
    self.trip = trip
    self.deadlines = earlier.deadlines
    self.end = start + length
    self.start = earlier.date + (start - earlier.end).seconds
    self.date = self.start + length.seconds
  }
}
