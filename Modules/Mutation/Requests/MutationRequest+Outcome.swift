package import OperationCore

extension MutationRequest {
  /// Runs the mutation, and returns its value or its error.
  package func outcome(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<MutateValue, MutateFailure>
  ) async -> Result<MutateValue, MutateFailure> {
    do throws(MutateFailure) {
      return .success(try await self.run(isolation: isolation, in: context, with: continuation))
    } catch {
      return .failure(error)
    }
  }
}

extension Result {
  /// Whether the result is a value.
  var isSuccess: Bool {
    if case .success = self { true } else { false }
  }
}
