package import OperationCore

/// A modifier of a third party that tries again at once.
package struct TryAgain<Operation: OperationRequest>: OperationModifier {
  let times: Int

  package func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    for _ in 0..<self.times {
      do throws(Operation.Failure) {
        return try await operation.run(isolation: isolation, in: context, with: continuation)
      } catch {
        if Task.isCancelled { throw error }
      }
    }
    return try await operation.run(isolation: isolation, in: context, with: continuation)
  }
}

extension OperationRequest {
  package func tryingAgain(times: Int = 1) -> ModifiedOperation<Self, TryAgain<Self>> {
    self.modifier(TryAgain(times: times))
  }
}
