import Operation
import PostService

extension OperationRequest {
  /// Holds each run back until the gate is open.
  func waiting(at gate: Gate) -> ModifiedOperation<Self, Gating<Self>> {
    self.modifier(Gating(gate: gate))
  }
}

/// A modifier of our own that delays what an operation does.
struct Gating<Operation: OperationRequest>: OperationModifier {
  let gate: Gate

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    await self.gate.pass()
    return try await operation.run(isolation: isolation, in: context, with: continuation)
  }
}
