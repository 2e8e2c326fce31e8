public import OperationCore

/// Limits how many runs are under way at once, and adapts the number to the capacity of the service.
///
/// ```swift
/// let limit = AdaptiveLimit(minimum: 2, maximum: 100)
/// let query = PostQuery(id: 1).limited(by: limit, maximumWait: .seconds(1))
/// ```
///
/// The number begins at the minimum, and doubles while runs do not take longer for it. Then it follows the durations:
/// it grows while runs take less than `tolerance` times as long as with 60 % of them under way, and shrinks while they
/// take longer. To know how long that is, the limit admits only 60 % for a short time now and then: at most in one of 24
/// generations of runs while the service is steady. Durations are compared as means of so many runs that their variation
/// does not count. The time that a run waits for its permit is no part of its duration.
///
/// Failures shrink the number by the factor `decrease` when more than a tenth of a round of runs has failed. Runs that
/// were under way together shrink it once. A cancelled run and a ``/OperationCore/LocalRejection`` change nothing.
///
/// The references are the gradient limiters of [Netflix](https://github.com/Netflix/concurrency-limits) and
/// [Envoy](https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_filters/adaptive_concurrency_filter).
///
/// Runs beyond the limit wait in the order in which they came, as for a ``ConcurrencyLimit``.
public final class AdaptiveLimit: OperationLimit {
  /// The data that the limit keeps for a run that is under way.
  public struct Permit: Sendable {
    let start: Duration
    let ticket: AdaptiveMachine.Ticket
  }

  /// The name of the limit in errors, notices and texts; nil without a name.
  public let name: String?

  private let queue: LimitQueue<AdaptiveMachine>
  private let lastFailure = LastFailure()
  private let counts: @Sendable (any Error) -> Bool

  /// Creates a limit, which begins with the minimum.
  ///
  /// - Parameters:
  ///   - minimum: The lowest number of runs that may be under way at once, at least 1.
  ///   - maximum: The highest number of runs that may be under way at once, at least `minimum`.
  ///   - decrease: The factor by which failures shrink the number, above 0 and below 1. It shrinks by at least one.
  ///   - tolerance: How many times longer runs may take than with fewer of them under way, above 1 and at most 10. More
  ///     makes up for gaps in the load of the service, at the cost of its latency.
  ///   - queue: The number of runs that may wait, at least 0. Runs beyond it are rejected at once.
  ///   - name: The name of the limit in errors, notices and texts, without user data.
  ///   - counts: Whether an error is a sign of overload. It is not called for cancelled runs and local rejections.
  public init(
    minimum: Int,
    maximum: Int,
    decrease: Double = 0.75,
    tolerance: Double = 1.2,
    queue: Int = 10_000,
    name: String? = nil,
    counts: @escaping @Sendable (any Error) -> Bool = { _ in true }
  ) {
    precondition(minimum >= 1, "An adaptive limit of \(minimum) would admit no run. Pass a minimum of at least 1.")
    precondition(maximum >= minimum, "The maximum \(maximum) is below the minimum \(minimum). Pass a higher maximum.")
    precondition(
      decrease > 0 && decrease < 1,
      "A limit cannot shrink by the factor \(decrease). Pass one above 0 and below 1."
    )
    precondition(
      tolerance > 1 && tolerance <= 10,
      "A limit cannot tolerate runs that take \(tolerance) times as long. Pass a number above 1 and at most 10."
    )
    precondition(queue >= 0, "\(queue) runs cannot wait for an adaptive limit. Pass 0 or more.")
    self.name = name
    self.counts = counts
    self.queue = LimitQueue(
      AdaptiveMachine(range: minimum...maximum, factor: decrease, tolerance: tolerance, maximumWaiting: queue)
    )
  }

  /// The number of runs that may currently be under way at once. While the limit measures, it admits fewer.
  public var limit: Int { self.queue.withMachine { $0.limit } }

  /// The number of runs that are under way. After a reduction it may be above the limit for a while.
  public var activeCount: Int { self.queue.withMachine { $0.inUse } }

  /// The number of runs that wait.
  public var waitingCount: Int { self.queue.withMachine { $0.waiterCount } }

  /// Takes a permit at once; nil if there is none.
  public func takePermit(in context: OperationContext) -> Permit? {
    let now = context.elapsed
    let ticket = self.queue.withMachine { $0.take() ? $0.begin() : nil }
    return ticket.map { Permit(start: now, ticket: $0) }
  }

  /// Waits for a permit.
  ///
  /// - Throws: ``OperationRejected``; `CancellationError` at once when the task is cancelled.
  public nonisolated(nonsending) func waitForPermit(
    in context: OperationContext,
    maximumWait: OperationDuration?
  ) async throws -> Permit {
    try await self.queue.decision(in: context, maximumWait: maximumWait).check(
      name: self.name,
      lastFailure: self.lastFailure
    )
    return Permit(start: context.elapsed, ticket: self.queue.withMachine { $0.begin() })
  }

  /// Returns a permit, and adapts the limit to the outcome of the run.
  public func returnPermit(_ permit: Permit, after use: OperationPermitUse, in context: OperationContext) {
    if case .failed(let error) = use { self.lastFailure.set(error) }
    switch use {
    case .succeeded:
      let now = context.elapsed
      let duration = max(now - permit.start, .zero)
      self.queue.change { $0.giveBack(permit.ticket, afterSuccess: duration, at: now) }
    case .failed(let error) where self.counts(error):
      self.queue.change { $0.giveBack(afterFailure: permit.ticket) }
    case .failed, .cancelled, .unused:
      self.queue.change { $0.giveBack(permit.ticket) }
    }
  }
}

extension AdaptiveLimit: CustomStringConvertible {
  /// The name and the current numbers of the limit.
  public var description: String {
    let (limit, active, waiting) = self.queue.withMachine { ($0.limit, $0.inUse, $0.waiterCount) }
    let title = self.name.map { "Adaptive limit \"\($0)\"" } ?? "Adaptive limit"
    return "\(title): \(active) of \(limit) runs under way, \(waiting) waiting"
  }
}
