package import OperationCore

extension OperationRequest {
  /// Runs the operation in a context that it has not set up, as a body that runs another operation may do.
  @discardableResult
  package func runWithoutSetup(
    in context: OperationContext = OperationContext()
  ) async throws(Failure) -> Value {
    try await self.run(isolation: nil, in: context, with: OperationContinuation { _, _ in })
  }
}
