internal import OperationCore

/// A modifier that does nothing, as a third party would write it.
struct PassThrough<Operation: OperationRequest>: OperationModifier {
  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    try await operation.run(isolation: isolation, in: context, with: continuation)
  }
}

extension OperationRequest {
  func passedThrough() -> ModifiedOperation<Self, PassThrough<Self>> { self.modifier(PassThrough()) }
}
