public import OperationCore

extension IdempotentOperation: MutationRequest where Operation: MutationRequest {
  /// The arguments of a call.
  public typealias Arguments = Operation.Arguments

  /// The value that a call returns.
  public typealias MutateValue = Operation.MutateValue

  /// The error that a call can throw.
  public typealias MutateFailure = Operation.MutateFailure

  /// Makes one call with the operation inside.
  public func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Operation.Arguments,
    in context: OperationContext,
    with continuation: OperationContinuation<Operation.MutateValue, Operation.MutateFailure>
  ) async throws(Operation.MutateFailure) -> Operation.MutateValue {
    try await self.operation.mutate(isolation: isolation, with: arguments, in: context, with: continuation)
  }
}
