public import OperationCore

extension IdempotentOperation: MutationRequest where Operation: MutationRequest {
  public typealias Arguments = Operation.Arguments
  public typealias MutateValue = Operation.MutateValue
  public typealias MutateFailure = Operation.MutateFailure

  public func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Operation.Arguments,
    in context: OperationContext,
    with continuation: OperationContinuation<Operation.MutateValue, Operation.MutateFailure>
  ) async throws(Operation.MutateFailure) -> Operation.MutateValue {
    try await self.operation.mutate(isolation: isolation, with: arguments, in: context, with: continuation)
  }
}
