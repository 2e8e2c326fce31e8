public import OperationCore

extension ModifiedOperation: MutationRequest
where
  Operation: MutationRequest,
  Modifier.Value == Operation.Value, Modifier.Failure == Operation.Failure
{
  public typealias Arguments = Operation.Arguments
  public typealias MutateValue = Operation.MutateValue
  public typealias MutateFailure = Operation.MutateFailure

  public func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Operation.Arguments,
    in context: OperationContext,
    with continuation: OperationContinuation<Operation.MutateValue, Operation.MutateFailure>
  ) async throws(Operation.MutateFailure) -> Operation.MutateValue {
    // A separate call with its own effects, even if it is made inside another call.
    try await EffectsRunWrapper().run(isolation: isolation, in: .calling(with: arguments, in: context)) { context in
      await self.outcome(isolation: isolation, in: context, with: continuation)
    }.get()
  }
}
