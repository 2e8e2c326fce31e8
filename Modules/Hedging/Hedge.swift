public import OperationCore

extension IdempotentRequest where Self: Sendable, Value: Sendable {
  /// Starts another run of the operation beside one that takes long, and uses the first success.
  ///
  /// It follows the rules of the form with a duration.
  ///
  /// - Parameters:
  ///   - delay: How long to wait after a run has begun before the next one begins.
  ///   - maximum: The highest number of runs, the first included, at least 1.
  ///   - budget: Bounds the runs besides the first; nil for no bound.
  /// - Returns: The operation with the hedge around it: each run makes up to `maximum` runs of the operation.
  public func hedged(
    after delay: HedgeDelay,
    maximum: Int = 2,
    budget: RetryBudget? = nil
  ) -> ModifiedOperation<Self, Hedge<Self>> {
    self.modifier(Hedge(after: delay, maximum: maximum, budget: budget))
  }

  /// Starts another run beside one that takes longer than `delay`, except while that blocks its caller's thread.
  ///
  /// A run begins on the thread of its caller, and holds that thread until it first suspends. With an executor preference
  /// in its task configuration, runs begin on the executor, and one that blocks does not keep the next from its start.
  ///
  /// The first success is used. The other runs are then cancelled, and awaited. A failure starts the next run at once, or when it asks for that:
  /// see ``/OperationCore/RetryHinting``. When all runs have failed, the last failure is thrown. One that is
  /// ``/OperationCore/RetryClassification/never`` to be retried is thrown at once. The first run that yields passes its yields on; other runs' yields are dropped.
  ///
  /// Queries are idempotent. For another operation that may run several times at once, write
  /// ``/OperationCore/OperationRequest/idempotent()`` inside of this.
  ///
  /// - Parameters:
  ///   - delay: How long to wait after a run has begun before the next one begins.
  ///   - maximum: The highest number of runs, the first included, at least 1.
  ///   - budget: Bounds the runs besides the first; nil for no bound.
  /// - Returns: The operation with the hedge around it: each run makes up to `maximum` runs of the operation.
  public func hedged(
    after delay: OperationDuration,
    maximum: Int = 2,
    budget: RetryBudget? = nil
  ) -> ModifiedOperation<Self, Hedge<Self>> {
    self.hedged(after: .fixed(delay), maximum: maximum, budget: budget)
  }
}

/// The modifier that `.hedged(after:maximum:)` applies: of several runs, the first success is used.
public struct Hedge<Operation: OperationRequest & Sendable>: OperationModifier where Operation.Value: Sendable {
  private let timing: HedgeTiming
  private let maximum: Int
  private let budget: RetryBudget?

  init(after delay: HedgeDelay, maximum: Int, budget: RetryBudget?) {
    precondition(maximum >= 1, "An operation cannot be hedged with at most \(maximum) runs. Pass at least 1.")
    self.timing = HedgeTiming(delay)
    self.maximum = maximum
    self.budget = budget
  }

  public var sourceText: String { ".hedged(after: \(self.timing.delayText), maximum: \(self.maximum))" }

  /// Runs the operation, with hedges.
  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    guard self.maximum > 1 else {
      return try await operation.run(isolation: isolation, in: context, with: continuation)
    }
    var context = context
    self.budget?.deposit(for: &context)
    var race = HedgeRace(
      operation: operation,
      context: context,
      continuation: continuation,
      timing: self.timing,
      maximum: self.maximum,
      budget: self.budget
    )
    let outcome = await withTaskGroup(of: Void.self, isolation: isolation) { group in
      await race.run(isolation: isolation, in: &group)
    }
    return try outcome.get()
  }
}

extension OperationContext {
  /// The number of runs that a hedge has started before this one: 0 in the first run and without a hedge.
  ///
  /// An operation can use it to ask another server.
  public var operationHedgeIndex: Int {
    get { self[HedgeIndexKey.self] }
    set { self[HedgeIndexKey.self] = newValue }
  }

  private enum HedgeIndexKey: Key {
    static let defaultValue = 0
  }
}

extension OperationNotice.Name {
  /// A hedge has started another run. The attribute `hedge.index` is the number of earlier runs.
  public static let hedgeStarted = Self("hedge.started")
}
