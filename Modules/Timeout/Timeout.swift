public import OperationCore

/// Ends runs that take too long; applied by `.timeout(_:)` and `.deadline(_:)`.
public struct Timeout<Operation: OperationRequest & Sendable>: OperationModifier where Operation.Value: Sendable {
  @usableFromInline let id = OutcomeModifierIdentifier()
  @usableFromInline let limit: TimeLimit
  @usableFromInline let failure: @Sendable (OperationTimedOut) -> Operation.Failure

  init(_ limit: TimeLimit, failure: @escaping @Sendable (OperationTimedOut) -> Operation.Failure) {
    self.limit = limit
    self.failure = failure
  }

  public var sourceText: String { self.limit.sourceText }

  /// Offers a place for the retry of the client, which the time bounds, and plans a deadline.
  public func setup(context: inout OperationContext, using operation: Operation) {
    context.offersPlaceForAttempts(self.id)
    if let deadline = self.limit.planned { context.planDeadline(self.id, deadline) }
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
    let run = TimedRun(of: Operation.self, continuation: continuation)
    let attempts = TimedAttempts(place: self.id, end: allowance.end)
    guard let outcome = run.start(operation, attempts, in: context, isolation: isolation, isCancelled: isCancelled)
    else {
      return try await self.wait(for: run, allowance, context, operation)
    }
    return try outcome.get()
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
      throw self.timedOut(allowance, context, operation, hasBegun: false)
    }
  }

  /// Waits until the run has ended, or throws when its time is over or the caller is cancelled.
  // Not inlined: a run that returns at once does not wait.
  @usableFromInline
  nonisolated(nonsending) func wait(
    for run: TimedRun<Operation.Value, Operation.Failure>,
    _ allowance: TimeAllowance,
    _ context: OperationContext,
    _ operation: Operation
  ) async throws(Operation.Failure) -> Operation.Value {
    let cancellation = self.cancellation
    if let outcome = await run.end(by: allowance, in: context, canLeave: cancellation != nil) {
      return try outcome.get()
    }
    // The caller may be cancelled at the moment when the time is over.
    if let cancellation, Task.isCancelled || run.hasLeft { throw cancellation }
    throw self.timedOut(allowance, context, operation)
  }

  /// A `CancellationError` if the failure type can represent it.
  private var cancellation: Operation.Failure? { CancellationError() as? Operation.Failure }

  /// Sends the notice of a timeout, and returns its error.
  private func timedOut(
    _ allowance: TimeAllowance,
    _ context: OperationContext,
    _ operation: Operation,
    hasBegun: Bool = true
  ) -> Operation.Failure {
    context.send(
      OperationNotice(.timedOut, of: operation, attributes: ["timeout.limit": .duration(allowance.asked)])
    )
    return self.failure(OperationTimedOut(after: allowance.asked, hasBegun: hasBegun))
  }
}

extension OperationNotice.Name {
  /// A run has not ended in time. The attribute `timeout.limit` is the time that was asked for.
  public static let timedOut = Self("timeout")
}
