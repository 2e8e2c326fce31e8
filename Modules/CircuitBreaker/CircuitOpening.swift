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
  /// The source of the elapsed time.
  let deadlines: any DeadlineSource

  init(trip: Int, length: Duration, in context: OperationContext) {
    let length = length.clampedForClock
    self.trip = trip
    self.deadlines = context.operationDeadlines
    self.end = context.elapsed + length
    self.date = context.date + length.seconds
  }
}
