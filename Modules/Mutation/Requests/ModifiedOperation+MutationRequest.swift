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
    try await self.run(isolation: isolation, in: .calling(with: arguments, in: context), with: continuation)
  }
}
