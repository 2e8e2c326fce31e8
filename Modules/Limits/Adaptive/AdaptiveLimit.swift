public import OperationCore

/// Limits how many runs are under way at once, and adapts the number to the capacity of the service.
///
/// ```swift
/// let limit = AdaptiveLimit(minimum: 2, maximum: 100)
/// let query = PostQuery(id: 1).limited(by: limit, maximumWait: .seconds(1))
/// ```
///
/// The number begins at the minimum. It grows by one when as many runs have succeeded as there are permits, if all
/// permits were in use meanwhile. It shrinks by the factor `decrease` when a run fails, or takes longer than
/// `tolerance` times the shortest of the last one to two thousand runs. Runs that were under way together shrink it
/// once. A cancelled run changes nothing.
///
/// The rule is *additive increase, multiplicative decrease*, which TCP uses: V. Jacobson, *Congestion Avoidance and
/// Control*, 1988. D.-M. Chiu and R. Jain showed in 1989 that clients which follow it share a resource fairly.
///
/// Runs beyond the limit wait in the order in which they came, as for a ``ConcurrencyLimit``.
public final class AdaptiveLimit: OperationLimit {
  /// The data that the limit keeps for a run that is under way.
  public struct Permit: Sendable {
    let start: Duration
    let reductions: UInt64
  }

  private let queue: LimitQueue<AdaptiveMachine>
  private let counts: @Sendable (any Error) -> Bool

  /// Creates a limit, which begins with the minimum.
  ///
  /// - Parameters:
  ///   - minimum: The lowest number of runs that may be under way at once, at least 1.
  ///   - maximum: The highest number of runs that may be under way at once, at least `minimum`.
  ///   - decrease: The factor by which the number shrinks at a sign of overload, above 0 and below 1. It shrinks by at
  ///     least one.
  ///   - tolerance: How many times longer than the shortest run a run may take, at least 1. One millisecond more is
  ///     always tolerated.
  ///   - queue: The number of runs that may wait, at least 0. Runs beyond it are rejected at once.
  ///   - counts: Whether an error is a sign of overload. It is not called for cancelled runs.
  public init(
    minimum: Int,
    maximum: Int,
    decrease: Double = 0.75,
    tolerance: Double = 2,
    queue: Int = 10_000,
    counts: @escaping @Sendable (any Error) -> Bool = { _ in true }
  ) {
    precondition(minimum >= 1, "An adaptive limit of \(minimum) would admit no run. Pass a minimum of at least 1.")
    precondition(maximum >= minimum, "The maximum \(maximum) is below the minimum \(minimum). Pass a higher maximum.")
    precondition(
      decrease > 0 && decrease < 1,
      "A limit cannot shrink by the factor \(decrease). Pass one above 0 and below 1."
    )
    precondition(
      tolerance >= 1 && tolerance <= 1_000_000,
      "A limit cannot tolerate runs that take \(tolerance) times as long as the shortest. Pass 1 to 1,000,000."
    )
    precondition(queue >= 0, "\(queue) runs cannot wait for an adaptive limit. Pass 0 or more.")
    self.counts = counts
    self.queue = LimitQueue(
      AdaptiveMachine(range: minimum...maximum, factor: decrease, tolerance: tolerance, maximumWaiting: queue)
    )
  }

  /// The number of runs that may currently be under way at once.
  public var limit: Int { self.queue.withMachine { $0.limit } }

  /// The number of runs that are under way. After a reduction it may be above the limit for a while.
  public var activeCount: Int { self.queue.withMachine { $0.inUse } }

  /// The number of runs that wait.
  public var waitingCount: Int { self.queue.withMachine { $0.waiterCount } }

  /// Takes a permit at once; nil if there is none.
  public func takePermit(in context: OperationContext) -> Permit? {
    let now = context.elapsed
    let reductions = self.queue.withMachine { $0.take() ? $0.reductions : nil }
    return reductions.map { Permit(start: now, reductions: $0) }
  }

  /// Waits for a permit.
  ///
  /// - Throws: ``OperationRejected``; `CancellationError` at once when the task is cancelled.
  public nonisolated(nonsending) func waitForPermit(
    in context: OperationContext,
    maximumWait: OperationDuration?
  ) async throws -> Permit {
    try await self.queue.decision(in: context, maximumWait: maximumWait).check()
    return Permit(start: context.elapsed, reductions: self.queue.withMachine { $0.reductions })
  }

  /// Returns a permit, and adapts the limit to the outcome of the run.
  public func returnPermit(_ permit: Permit, after use: OperationPermitUse, in context: OperationContext) {
    switch use {
    case .succeeded:
      let duration = max(context.elapsed - permit.start, .zero)
      self.queue.change { $0.giveBack(afterSuccess: duration, reductions: permit.reductions) }
    case .failed(let error) where self.counts(error):
      self.queue.change { $0.giveBack(afterOverload: permit.reductions) }
    case .failed, .cancelled, .unused:
      self.queue.change { $0.giveBack() }
    }
  }
}
