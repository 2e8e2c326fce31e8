public import OperationCore
internal import OperationFoundation

extension StatefulOperationRequest {
  /// Tells what the attempts of a run say about their values apart, asks servers about values, and adds a freshness.
  ///
  /// A body sets `freshness` without it, too. Apply it next to the operation, inside of retries, hedges and fallbacks:
  /// it then hears of the attempt whose value is used. `stale-while-revalidate` lets callers read a stale value while a run refreshes it, and `stale-if-error`
  /// when a run fails, also without other modifiers. With other rules, a value is stale when any of them says so.
  ///
  /// - Parameters:
  ///   - otherwise: How long a value is fresh about which nothing was said; nil for not at all. A negative duration is
  ///     reported and counts as zero.
  ///   - jitter: The largest share that is taken away from the freshness of each value. A number outside 0 to 1 is
  ///     reported, and counts as the nearest of the two.
  ///   - generator: The source of random numbers, drawn from once for each value. All stores share it.
  /// - Returns: The operation, whose stores honor what its runs say.
  public func honoringFreshness(
    otherwise: Duration? = nil,
    jitter: Double = 0,
    using generator: some RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
  ) -> ModifiedOperation<Self, HonoredFreshness<Self>> {
    let otherwise = otherwise?.reportedIfNegative(in: "honoringFreshness(otherwise:)").seconds
    let jitter = jitter.reportedUnlessShare(in: "honoringFreshness(jitter:)")
    return self.modifier(HonoredFreshness(otherwise: otherwise, jitter: jitter, shares: RandomShares(generator)))
  }
}

/// Takes what a run says about the freshness of its value; applied by `.honoringFreshness(otherwise:jitter:using:)`.
public struct HonoredFreshness<Operation: StatefulOperationRequest>: OperationModifier {
  let otherwise: Double?
  let jitter: Double
  let shares: RandomShares

  public var sourceText: String {
    ".honoringFreshness(otherwise: \(self.otherwise.map { "\($0)" } ?? "nil"), jitter: \(self.jitter))"
  }

  /// Adds the staleness rule to the context of a store.
  public func setup(context: inout OperationContext, using operation: Operation) {
    let record = context.freshnessRecord(of: operation)
    let jitter = FreshnessJitter(self.jitter, self.shares)
    context.addFreshPeriods(of: Operation.State.self, owner: record) { [otherwise] state, _ in
      ValueKey(state).map { record.freshPeriod(of: $0, otherwise: otherwise, jitter) }
    }
    operation.setup(context: &context)
  }

  /// Runs the operation, and takes what it says.
  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    let box = FreshnessBox(for: context)
    var inner = context
    inner.freshnessBox = box
    box.forgetEarlierAttempt()
    let marking = OperationContinuation<Operation.Value, Operation.Failure> { result, context in
      continuation.yield(with: result, using: result.isSuccess ? box.marked(context) : context)
    }
    let value = try await operation.run(isolation: isolation, in: inner, with: marking)
    box.handOver()
    return value
  }
}

extension Result {
  fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}
