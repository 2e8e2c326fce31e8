import OperationBackoff
import OperationCore
import OperationRetry
import OperationTesting
import Testing

extension OperationRequest {
  func measured(_ report: @escaping @Sendable (Duration) -> Void) -> ModifiedOperation<Self, Measured<Self>> {
    modifier(Measured())
  }
}

struct Measured<Operation: OperationRequest>: OperationModifier {
  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    try await operation.run(isolation: isolation, in: context, with: continuation)
  }
}

struct ServerIsBusy: Error {}
