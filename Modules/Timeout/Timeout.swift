public import OperationCore

/// Ends runs that take too long; applied by `.timeout(_:)` and `.deadline(_:)`.
// `Sendable` is required where the modifier is applied, and not of the operation here: the compiler would check it for the
// modifier and for the modified operation, so twice in each layer, and a chain of 18 would not compile within 40 s.
public struct Timeout<Operation: OperationRequest & SendableMetatype>: OperationModifier
where Operation.Value: Sendable {
  @usableFromInline let id = OutcomeModifierIdentifier()
  @usableFromInline let limit: TimeLimit
  @usableFromInline let runs = TimedRuns()
  @usableFromInline let failure: @Sendable (OperationTimedOut) -> Operation.Failure

  init(_ limit: TimeLimit, failure: @escaping @Sendable (OperationTimedOut) -> Operation.Failure) {
    self.limit = limit
    self.failure = failure
  }

  public static var beginsAtOnce: Bool { true }

  public var sourceText: String { self.limit.sourceText }

  /// Offers a place for the retry of the client, which the time bounds, and plans a deadline.
  public func setup(context: inout OperationContext, using operation: Operation) {
    context.offersPlaceForAttempts(self.id)
    if let deadline = self.limit.planned { context.planDeadline(self.id, deadline) }
    if case .ofContext = self.limit {
      let callers = CallersDeadlines(failure: self.failure)
      context.callInterceptors.append(callers)
      context.addRunWrapper(CallersDeadlines.RunWrapper(callers: callers))
    }
    operation.setup(context: &context)
  }

  /// Runs the operation in a task of its own, and returns when it has ended or its time is over.
  @inlinable
  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    if self.limit.isAbsent(in: context) {
      return try await operation.runWithAttempts(of: self.id, isolation: isolation, in: context, with: continuation)
    }
    var context = context
    let allowance = TimeAllowance(self.limit, of: self.id, in: &context)
    let isCancelled = Task.isCancelled
    if isCancelled || allowance.duration <= .zero { try self.refuse(isCancelled, allowance, context, operation) }
    let run = TypedTimedRun(of: Operation.self, continuation: continuation)
    let attempts = TimedAttempts(place: self.id, end: allowance.end)
    if let outcome = run.start(operation, attempts, in: context, isolation: isolation, isCancelled: isCancelled) {
      return try outcome.get(Operation.Value.self, Operation.Failure.self)
    }
    self.runs.add(run, in: context)
    defer { self.runs.remove(run) }
    guard let outcome = await run.end(by: allowance, in: context, canLeave: Self.canLeave) else {
      throw self.failure(ofLeft: run, allowance, context, operation)
    }
    return try outcome.get(Operation.Value.self, Operation.Failure.self)
  }
}

extension Timeout {
  /// Throws if a run must not begin: its task is cancelled, or it has no time.
  ///
  /// A cancelled run begins nevertheless if the failure type cannot represent a `CancellationError`.
  @usableFromInline
  func refuse(
    _ isCancelled: Bool,
    _ allowance: TimeAllowance,
    _ context: OperationContext,
    _ operation: Operation
  ) throws(Operation.Failure) {
    if isCancelled {
      if let cancellation = self.cancellation { throw cancellation }
    } else {
      throw self.timedOut(allowance.asked, context, operation, hasBegun: false)
    }
  }

  /// The failure of a run that its caller has left, because its time is over or the caller is cancelled.
  // Not inlined: it is rare.
  @usableFromInline
  func failure(
    ofLeft run: TimedRun,
    _ allowance: TimeAllowance,
    _ context: OperationContext,
    _ operation: Operation
  ) -> Operation.Failure {
    // The caller may be cancelled at the moment when the time is over.
    if Task.isCancelled || run.hasLeft, let cancellation = self.cancellation { return cancellation }
    return self.timedOut(run.asked(of: allowance, in: context), context, operation)
  }

  /// Whether the failure type can represent a `CancellationError`, so that a caller that is cancelled leaves at once.
  // Compared, and not cast: a cast takes several times as long.
  @inlinable
  static var canLeave: Bool {
    Operation.Failure.self == (any Error).self || Operation.Failure.self == CancellationError.self
  }

  /// A `CancellationError` if the failure type can represent it.
  private var cancellation: Operation.Failure? { CancellationError() as? Operation.Failure }

  /// Sends the notice of a timeout, and returns its error.
  private func timedOut(
    _ asked: Duration,
    _ context: OperationContext,
    _ operation: Operation,
    hasBegun: Bool = true
  ) -> Operation.Failure {
    context.send(
      OperationNotice(.timedOut, of: operation, attributes: ["timeout.limit": .duration(asked)])
    )
    return self.failure(OperationTimedOut(after: asked, hasBegun: hasBegun))
  }
}

extension OperationNotice.Name {
  /// A run has not ended in time. The attribute `timeout.limit` is the time that was asked for.
  public static let timedOut = Self("timeout")
}
