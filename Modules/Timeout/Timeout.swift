public import OperationCore

/// Ends runs that take too long; applied by `.timeout(_:)` and `.deadline(_:)`.
public struct Timeout<Operation: OperationRequest & Sendable>: OperationModifier where Operation.Value: Sendable {
  @usableFromInline let limit: TimeLimit
  @usableFromInline let failure: @Sendable (OperationTimedOut) -> Operation.Failure

  init(_ limit: TimeLimit, failure: @escaping @Sendable (OperationTimedOut) -> Operation.Failure) {
    self.limit = limit
    self.failure = failure
  }

  /// Runs the operation in a task of its own, and returns when it has ended or its time is over.
  @inlinable
  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    var context = context
    let allowance = TimeAllowance(self.limit, in: &context)
    if Task.isCancelled || allowance.duration <= .zero { try self.refuse(allowance, context, operation) }
    let run = TimedRun(operation: operation, context: context, continuation: continuation, isolation: isolation)
    if !run.start() { try await self.wait(for: run, allowance, context) }
    return try run.takeOutcome().get()
  }
}

extension Timeout {
  /// Throws if a run must not begin: its task is cancelled, or it has no time.
  ///
  /// A cancelled run begins nevertheless if the failure type cannot represent a `CancellationError`.
  @usableFromInline
  func refuse(
    _ allowance: TimeAllowance,
    _ context: OperationContext,
    _ operation: Operation
  ) throws(Operation.Failure) {
    if Task.isCancelled {
      if let cancellation = self.cancellation { throw cancellation }
    } else {
      throw self.timedOut(allowance, context, operation)
    }
  }

  /// Waits until the run has ended, or throws when its time is over or the caller is cancelled.
  // Not inlined: a run that returns at once does not wait.
  @usableFromInline
  nonisolated(nonsending) func wait(
    for run: TimedRun<Operation>,
    _ allowance: TimeAllowance,
    _ context: OperationContext
  ) async throws(Operation.Failure) {
    let cancellation = self.cancellation
    let end = await run.end(by: allowance, in: context, canLeave: cancellation != nil)
    guard end != .ended else { return }
    // The cancellation of the caller may come at the same time as the end of its time.
    if Task.isCancelled || end == .left, let cancellation { throw cancellation }
    throw self.timedOut(allowance, context, run.operation)
  }

  /// A `CancellationError` if the failure type can represent it.
  private var cancellation: Operation.Failure? { CancellationError() as? Operation.Failure }

  /// Sends the notice of a timeout, and returns its error.
  private func timedOut(
    _ allowance: TimeAllowance,
    _ context: OperationContext,
    _ operation: Operation
  ) -> Operation.Failure {
    context.send(
      OperationNotice(.timedOut, of: operation, attributes: ["timeout.limit": .duration(allowance.duration)])
    )
    return self.failure(OperationTimedOut(after: allowance.duration))
  }
}

extension OperationNotice.Name {
  /// A run has not ended in time. The attribute `timeout.limit` is the time that it had.
  public static let timedOut = Self("timeout")
}
