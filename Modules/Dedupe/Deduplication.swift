public import OperationCore

extension OperationRequest where Self: Sendable, Value: Sendable {
  /// Lets concurrent runs of the operation that do the same share one.
  ///
  /// What is the same is for the operation to say: see `OperationRequest.isSameRun(in:as:)`. All who share
  /// a run get its yields and its outcome. One who is cancelled leaves at once with a `CancellationError`, or waits for the
  /// end where `Failure` has no room for that; the run goes on while anyone waits, and is cancelled when nobody does. One
  /// with a higher priority raises that of the run.
  @inlinable
  public func deduplicated() -> ModifiedOperation<Self, Deduplication<Self>> {
    self.modifier(Deduplication { _, _ in true })
  }

  /// Lets concurrent runs of the operation share one where `isSameRun` holds for their contexts too.
  ///
  /// - Parameter isSameRun: Gets the context of a new run and that of one under way. It may be called on any thread.
  @inlinable
  public func deduplicated(
    by isSameRun: @escaping @Sendable (OperationContext, OperationContext) -> Bool
  ) -> ModifiedOperation<Self, Deduplication<Self>> {
    self.modifier(Deduplication(isSameRun))
  }
}

/// Lets concurrent runs that do the same share one: what `.deduplicated()` applies.
public struct Deduplication<Operation: OperationRequest & Sendable>: OperationModifier where Operation.Value: Sendable {
  @usableFromInline let isSameRun: @Sendable (OperationContext, OperationContext) -> Bool
  @usableFromInline let sharedRuns = RunRegistry<Operation>()

  @inlinable
  init(_ isSameRun: @escaping @Sendable (OperationContext, OperationContext) -> Bool) {
    self.isSameRun = isSameRun
  }

  @inlinable
  public func setup(context: inout OperationContext, using operation: Operation) {
    context.operationRunSharing = OperationRunSharing(isSameRun: self.isSameRun)
    operation.setup(context: &context)
  }

  @inlinable
  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    let outcome = await self.sharedRuns.outcome(of: operation, in: context, with: continuation, isolation: isolation) {
      new,
      other in
      operation.isSameRun(in: new, as: other) && self.isSameRun(new, other)
    }
    return try outcome.get()
  }
}
