public import OperationCore

/// The order in which the runs that wait for a limit begin, and how long they wait before they are rejected.
///
/// Runs with a higher ``/OperationCore/OperationContext/operationCriticality`` always begin first. The order applies to
/// runs with equal criticality.
public struct LimitOrder: Sendable, Hashable {
  enum Rule: Sendable, Hashable {
    case arrival
    case controlledDelay(target: Duration, interval: Duration)
    case boundedDelay(target: Duration, interval: Duration)
    case newestFirst(after: Duration)
  }

  let rule: Rule

  /// The run that has waited longest begins first; the default.
  public static let firstComeFirstServed = LimitOrder(rule: .arrival)

  /// First come, first served, and runs are rejected while the queue stands: *CoDel*.
  ///
  /// In a queue that empties now and then, a burst waits for a moment. One in which every run waits longer than `target` for a whole
  /// `interval` only adds delay. Then the run whose turn it is is rejected, and others after shorter and shorter times,
  /// until a run has waited less than `target`. The last waiting run is never rejected.
  ///
  /// It follows [RFC 8289](https://www.rfc-editor.org/rfc/rfc8289), with the defaults that B. Maurer reports for servers
  /// in [*Fail at Scale*](https://queue.acm.org/detail.cfm?id=2839461).
  ///
  /// - Parameters:
  ///   - target: The longest wait of a queue that is good. A negative duration is reported and counts as zero.
  ///   - interval: How long waits may be longer. A negative duration is reported and counts as zero.
  /// - Returns: The order.
  public static func controlledDelay(
    target: OperationDuration = .milliseconds(5),
    interval: OperationDuration = .milliseconds(100)
  ) -> LimitOrder {
    LimitOrder(
      rule: .controlledDelay(
        target: target.reportedIfNegative(in: "LimitOrder.controlledDelay(target:)").clampedForClock,
        interval: interval.reportedIfNegative(in: "LimitOrder.controlledDelay(interval:)").clampedForClock
      )
    )
  }

  /// First come, first served, and no run waits for long in a queue that stands.
  ///
  /// A run that comes when the queue has not been empty for `interval` waits for `target` at most, and one that comes earlier
  /// for `interval` at most. Then it is rejected, as at a longest wait of its own, which applies if it is shorter. So an
  /// overload delays no run longer than `interval` from its first moment on, where ``controlledDelay(target:interval:)``
  /// needs seconds until it rejects enough.
  ///
  /// It is the rule that B. Maurer describes in [*Fail at Scale*](https://queue.acm.org/detail.cfm?id=2839461), with its
  /// numbers.
  ///
  /// - Parameters:
  ///   - target: The longest wait in a queue that stands. A negative duration is reported and counts as zero.
  ///   - interval: The time without an empty queue, and the longest wait before. A negative duration is reported and counts
  ///     as zero.
  /// - Returns: The order.
  public static func boundedDelay(
    target: OperationDuration = .milliseconds(5),
    interval: OperationDuration = .milliseconds(100)
  ) -> LimitOrder {
    LimitOrder(
      rule: .boundedDelay(
        target: target.reportedIfNegative(in: "LimitOrder.boundedDelay(target:)").clampedForClock,
        interval: interval.reportedIfNegative(in: "LimitOrder.boundedDelay(interval:)").clampedForClock
      )
    )
  }

  /// First come, first served, until the queue has not been empty for a time; then the newest run begins first.
  ///
  /// In a standing queue the oldest waiters are about to time out, so the newest is served first. The newest one still has
  /// all of its time. The others leave the queue at their longest wait, so pass one. A run that finds the queue full
  /// takes the place of the one that has waited longest.
  ///
  /// B. Maurer describes it in [*Fail at Scale*](https://queue.acm.org/detail.cfm?id=2839461).
  ///
  /// - Parameter interval: The time without an empty queue. A negative duration is reported and counts as zero.
  /// - Returns: The order.
  public static func adaptiveLIFO(after interval: OperationDuration = .milliseconds(100)) -> LimitOrder {
    LimitOrder(
      rule: .newestFirst(after: interval.reportedIfNegative(in: "LimitOrder.adaptiveLIFO(after:)").clampedForClock)
    )
  }
}
