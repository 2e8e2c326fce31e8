public import OperationCore

extension IdempotentRequest where Self: Sendable, Value: Sendable {
  /// Starts another run of the operation when the first takes long, and uses the first success.
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

  /// Starts another run when one takes longer than `delay`, except while that blocks its caller's thread.
  ///
  /// A run begins on the thread of its caller, and holds that thread until it first suspends. With an executor preference
  /// in its task configuration, runs begin on the executor, and one that blocks does not keep the next from its start.
  ///
  /// The first success is used. The other runs are then cancelled, and awaited. A failure starts the next run at once, or
  /// when it asks for that: see ``/OperationCore/RetryHinting`` and ``/OperationCore/RetryPushingBack``. When all runs have
  /// failed, the last failure is thrown. One that is ``/OperationCore/RetryClassification/never`` to be retried is thrown
  /// at once. The first run that yields passes its yields on; other runs' yields are dropped.
  ///
  /// A run that a breaker or limit inside of the hedge rejects costs the budget nothing. Where a limit is around the hedge,
  /// each run after the first needs a permit of its own, and does not begin if none is free.
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
  /// Starts another run when the first takes long, as settings say that can be changed while operations use them.
  ///
  /// It follows the rules of the form with a duration, and two rules of
  /// [gRPC's proposal A6](https://github.com/grpc/proposal/blob/master/A6-client-retries.md#hedging-policy): a fatal failure
  /// ends all runs, and a server that pushes back decides when the next run begins, or that none does.
  ///
  /// - Parameters:
  ///   - settings: The settings, which other operations may share.
  ///   - isFatal: Receives a failure and the context of the run, and returns whether no other run can succeed. The other
  ///     runs are then cancelled, and the failure is thrown. It is asked as well as ``/OperationCore/RetryClassifying``.
  ///   - asksAgain: Receives a value and the context of the run, and returns whether the value does not count as a
  ///     success: the next run then begins at once. When no run is left, the last such value is returned.
  /// - Returns: The operation with the hedge around it.
  public func hedged(
    using settings: HedgeSettings,
    isFatal: (@Sendable (Failure, OperationContext) -> Bool)? = nil,
    whileValue asksAgain: (@Sendable (Value, OperationContext) -> Bool)? = nil
  ) -> ModifiedOperation<Self, Hedge<Self>> {
    self.modifier(Hedge(settings, isFatal: isFatal, asksAgain: asksAgain))
  }
}

/// The modifier that `.hedged(after:maximum:)` applies: of several runs, the first success is used.
// `Sendable` is required where the modifier is applied, and not of the operation here: the compiler would check it for the
// modifier and for the modified operation, so twice in each layer, and a chain of 18 would not compile within 40 s.
public struct Hedge<Operation: OperationRequest & SendableMetatype>: OperationModifier where Operation.Value: Sendable {
  @usableFromInline let settings: HedgeSettings
  private let isFatal: (@Sendable (Operation.Failure, OperationContext) -> Bool)?
  @usableFromInline let asksAgain: (@Sendable (Operation.Value, OperationContext) -> Bool)?

  init(after delay: HedgeDelay, maximum: Int, budget: RetryBudget?) {
    precondition(maximum >= 1, "An operation cannot be hedged with at most \(maximum) runs. Pass at least 1.")
    let values = HedgeSettings.Values(delay: delay, maximum: maximum, budget: budget)
    self.init(HedgeSettings(nil, values, isShared: false), isFatal: nil, asksAgain: nil)
  }

  init(
    _ settings: HedgeSettings,
    isFatal: (@Sendable (Operation.Failure, OperationContext) -> Bool)?,
    asksAgain: (@Sendable (Operation.Value, OperationContext) -> Bool)?
  ) {
    self.settings = settings
    self.isFatal = isFatal
    self.asksAgain = asksAgain
  }

  public var sourceText: String {
    if self.settings.isShared { return ".hedged(using: \(self.settings.name ?? "hedge"))" }
    let values = self.settings.values
    return ".hedged(after: \(values.delay.text), maximum: \(values.maximum))"
  }

  /// Says that several runs may be under way, and may deposit into a budget, and sets the operation up.
  public func setup(context: inout OperationContext, using operation: Operation) {
    context.operationBeginsFurtherRuns = true
    if self.settings.isShared || self.settings.values.budget != nil { context.operationDepositsIntoBudgets = true }
    operation.setup(context: &context)
  }

  /// Runs the operation, with hedges.
  @inlinable
  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    guard let start = self.settings.start(in: context) else {
      return try await operation.run(isolation: isolation, in: context, with: continuation)
    }
    let work = HedgeWork(
      operation: operation,
      runs: start.runs,
      isolation: isolation,
      isCancelled: Task.isCancelled,
      continuation: continuation
    )
    let first = start.runs.outcome(ofFirst: work.start(0, in: start.context))
    // A run that succeeds without a suspension needs no timer, no handlers and no wait.
    if let first, first.outcome.isSuccess, self.asksAgain == nil {
      start.recordSuccess(of: first)
      return try first.outcome.get(Operation.Value.self, Operation.Failure.self)
    }
    return try await self.race(start, work, after: first)
  }

  /// Waits for a run that has suspended or has not succeeded, and for those that are started meanwhile.
  // Not inlined: a run that returns at once does not wait.
  @usableFromInline
  nonisolated(nonsending) func race(
    _ start: HedgeStart,
    _ work: HedgeWork<Operation>,
    after first: FirstOutcome?
  ) async throws(Operation.Failure) -> Operation.Value {
    typealias Outcome = Result<Operation.Value, Operation.Failure>
    let (context, isFatal, asksAgain) = (start.context, self.isFatal, self.asksAgain)
    let hedged = HedgedOperation { index in
      var context = context
      context.operationHedgeIndex = index
      return work.start(index, in: context)
    } send: { name, attributes in
      context.send(OperationNotice(name, of: work.operation, attributes: attributes))
    } asksAgain: { outcome in
      guard let asksAgain, case .success(let value) = outcome.result() as Outcome else { return false }
      return asksAgain(value, context)
    } isFatal: { outcome in
      guard let isFatal, case .failure(let error) = outcome.result() as Outcome else { return false }
      return isFatal(error, context)
    } cancellation: {
      (CancellationError() as? Operation.Failure).map { RunOutcome.of(Outcome.failure($0)) }
    }
    var race = HedgeRace(start, of: hedged)
    let runs = start.runs
    let outcome = await withTaskPriorityEscalationHandler {
      await withTaskCancellationHandler {
        await race.outcome(after: first)
      } onCancel: {
        runs.callerWasCancelled()
      }
    } onPriorityEscalated: { _, priority in
      runs.raise(to: priority)
    }
    return try outcome.get(Operation.Value.self, Operation.Failure.self)
  }
}

/// Starts the runs of one hedged run.
@usableFromInline
struct HedgeWork<Operation: OperationRequest & SendableMetatype>: Sendable where Operation.Value: Sendable {
  // Safe, because the operation is Sendable where a hedge is applied to it: see `Hedge`.
  @usableFromInline nonisolated(unsafe) let operation: Operation
  @usableFromInline let runs: HedgeRuns
  @usableFromInline let isolation: (any Actor)?
  @usableFromInline let isCancelled: Bool
  @usableFromInline let continuation: OperationContinuation<Operation.Value, Operation.Failure>

  @inlinable
  init(
    operation: Operation,
    runs: HedgeRuns,
    isolation: (any Actor)?,
    isCancelled: Bool,
    continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) {
    self.operation = operation
    self.runs = runs
    self.isolation = isolation
    self.isCancelled = isCancelled
    self.continuation = continuation
  }

  /// Starts a run in a task of its own, on the thread of the caller.
  @inlinable
  func start(_ index: Int, in context: OperationContext) -> RunTask {
    // With an executor preference, a run that blocks its thread does not keep the next one from its start.
    RunTask.start(in: context) {
      Task.immediate { await self.perform(index, in: context) }
    } enqueuing: { executor in
      Task(executorPreference: executor) { await self.perform(index, in: context) }
    }
  }

  @inlinable
  func perform(_ index: Int, in context: OperationContext) async {
    // A task of its own does not inherit the cancellation.
    if self.isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
    let (runs, continuation) = (self.runs, self.continuation)
    let own = OperationContinuation<Operation.Value, Operation.Failure> { result, context in
      if runs.mayYield(index) { continuation.yield(with: result, using: context) }
    }
    let outcome: Result<Operation.Value, Operation.Failure>
    do throws(Operation.Failure) {
      outcome = .success(try await self.operation.run(isolation: self.isolation, in: context, with: own))
    } catch {
      outcome = .failure(error)
    }
    self.runs.end(index, with: RunOutcome.of(outcome), in: context)
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
