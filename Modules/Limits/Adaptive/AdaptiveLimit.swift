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
/// Runs beyond the limit wait as for a ``ConcurrencyLimit``. ``snapshot()`` shows the number and its reason. A context whose
/// run changes the number receives the notice ``OperationCore/OperationNotice/Name/limitChanged``.
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
  ///   - order: Which of the waiting runs begins next, and which of them have waited in vain.
  ///   - name: The name of the limit in errors, notices and texts, without user data.
  ///   - counts: Whether an error is a sign of overload. It is not called for cancelled runs and local rejections.
  public init(
    minimum: Int,
    maximum: Int,
    decrease: Double = 0.75,
    tolerance: Double = 1.2,
    queue: Int = 10_000,
    order: LimitOrder = .firstComeFirstServed,
    name: String? = nil,
    counts: @escaping @Sendable (any Error) -> Bool = { _ in true }
  ) {
    let problem = Self.problem(minimum, maximum, decrease, tolerance, queue)
    precondition(problem == nil, problem ?? "")
    self.name = name
    self.counts = counts
    self.queue = LimitQueue(
      AdaptiveMachine(
        range: minimum...maximum,
        factor: decrease,
        tolerance: tolerance,
        maximumWaiting: queue,
        order: order
      )
    )
  }

  private static func problem(
    _ minimum: Int,
    _ maximum: Int,
    _ decrease: Double?,
    _ tolerance: Double?,
    _ queue: Int?
  ) -> String? {
    if minimum < 1 { return "An adaptive limit of \(minimum) would admit no run. Pass a minimum of at least 1." }
    if maximum < minimum { return "The maximum \(maximum) is below the minimum \(minimum). Pass a higher maximum." }
    if let decrease, !(decrease > 0 && decrease < 1) {
      return "A limit cannot shrink by the factor \(decrease). Pass one above 0 and below 1."
    }
    if let tolerance, !(tolerance > 1 && tolerance <= 10) {
      return """
        A limit cannot tolerate runs that take \(tolerance) times as long. Pass a number above 1 and at most 10.
        """
    }
    if let queue, queue < 0 { return "\(queue) runs cannot wait for an adaptive limit. Pass 0 or more." }
    return nil
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
    let now = context.elapsed
    let counts: Bool
    if case .failed(let error) = use { counts = self.counts(error) } else { counts = false }
    let change = self.queue.change { machine -> LimitChange in
      let earlier = machine.limit
      switch use {
      case .succeeded:
        machine.giveBack(permit.ticket, afterSuccess: max(now - permit.start, .zero), at: now)
      case .failed where counts: machine.giveBack(afterFailure: permit.ticket, at: now)
      case .failed, .cancelled, .unused: machine.giveBack(permit.ticket, at: now)
      }
      return LimitChange(from: earlier, to: machine.limit, reason: machine.reason)
    }
    context.sendIfChanged(change, of: self.name)
  }
}

// MARK: - While it runs

extension AdaptiveLimit {
  /// Changes the settings while runs are under way and wait.
  ///
  /// The number moves into the range at once: waiting runs begin, or no run begins until so many have ended. In the range
  /// it stays. After a change of the range or of the tolerance, a measurement that is under way begins again. Runs that
  /// wait stay, also in a queue that is now too long: new ones are rejected until fewer wait.
  ///
  /// Impossible settings are reported with a warning. Then nothing changes.
  ///
  /// - Parameters:
  ///   - minimum: The lowest number of runs that may be under way at once, at least 1; nil to keep it.
  ///   - maximum: The highest number of runs that may be under way at once, at least the minimum; nil to keep it.
  ///   - decrease: The factor by which failures shrink the number, above 0 and below 1; nil to keep it.
  ///   - tolerance: How many times longer runs may take, above 1 and at most 10; nil to keep it.
  ///   - queue: The number of runs that may wait, at least 0; nil to keep it.
  ///   - order: Which of the waiting runs begins next; nil to keep it.
  ///   - context: A context whose observers receive the notice ``OperationCore/OperationNotice/Name/limitChanged``;
  ///     nil for none.
  /// - Returns: Whether the settings are possible.
  @discardableResult
  public func update(
    minimum: Int? = nil,
    maximum: Int? = nil,
    decrease: Double? = nil,
    tolerance: Double? = nil,
    queue: Int? = nil,
    order: LimitOrder? = nil,
    in context: OperationContext? = nil
  ) -> Bool {
    let (range, deadlines) = self.queue.withMachine { ($0.range, $0.firstWaiter?.deadlines) }
    let (lowest, highest) = (minimum ?? range.lowerBound, maximum ?? range.upperBound)
    let problem = Self.problem(lowest, highest, decrease, tolerance, queue)
    if OperationWarning.refuses(problem, by: self.name ?? "AdaptiveLimit") { return false }
    // Read before locking, because a source of deadlines is user code.
    let now = context?.elapsed ?? deadlines?.elapsed ?? .zero
    let (earlier, current) = self.queue.change { machine in
      let earlier = machine.settings
      machine.update(
        range: lowest...highest,
        factor: decrease,
        tolerance: tolerance,
        maximumWaiting: queue,
        order: order,
        at: now
      )
      return (earlier, machine.settings)
    }
    var change = SettingsChange(of: self.name)
    for (key, path) in [
      ("limit.value", \AdaptiveSettings.limit), ("limit.minimum", \.range.lowerBound),
      ("limit.maximum", \.range.upperBound),
    ] {
      change.add(key, from: .number(Double(earlier[keyPath: path])), to: .number(Double(current[keyPath: path])))
    }
    change.add("limit.decrease", from: .number(earlier.factor), to: .number(current.factor))
    change.add("limit.tolerance", from: .number(earlier.tolerance), to: .number(current.tolerance))
    change.addQueue(from: earlier.queue, to: current.queue)
    context?.send(.limitChanged, of: change)
    return true
  }

  /// The numbers of the limit at this moment, and why it has them.
  public func snapshot() -> AdaptiveLimitSnapshot {
    self.queue.withMachine { machine in
      AdaptiveLimitSnapshot(
        name: self.name ?? "AdaptiveLimit",
        limit: machine.limit,
        reason: machine.reason,
        admitted: machine.admitted,
        minimum: machine.range.lowerBound,
        maximum: machine.range.upperBound,
        active: machine.inUse,
        waiting: machine.waiterCount,
        rejections: machine.rejections
      )
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
