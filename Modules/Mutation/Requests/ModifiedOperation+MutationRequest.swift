public import OperationCore

extension ModifiedOperation: MutationRequest
where
  Operation: MutationRequest,
  Modifier.Value == Operation.Value, Modifier.Failure == Operation.Failure
{
  /// The arguments of a call.
  public typealias Arguments = Operation.Arguments

  /// The value that a call returns.
  public typealias MutateValue = Operation.MutateValue

  /// The error that a call can throw.
  public typealias MutateFailure = Operation.MutateFailure

  /// Makes one call with all modifiers applied.
  public func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Operation.Arguments,
    in context: OperationContext,
    with continuation: OperationContinuation<Operation.MutateValue, Operation.MutateFailure>
  ) async throws(Operation.MutateFailure) -> Operation.MutateValue {
    // A separate call with its own effects, even if it is made inside another call.
    let wrappers: [any OperationRunWrapper] = [EffectsRunWrapper()]
    return try await wrappers.result(isolation: isolation, in: .calling(with: arguments, in: context)) { context in
      await self.outcome(isolation: isolation, in: context, with: continuation)
    }.get()
  }
}
