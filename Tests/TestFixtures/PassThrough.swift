package import OperationCore

/// A modifier, like one of a third party, that only runs the operation.
package struct PassThrough<Operation: OperationRequest>: OperationModifier {
  package init() {}

  package func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    try await operation.run(isolation: isolation, in: context, with: continuation)
  }
}
