package import OperationCore

extension OperationNotice.Name {
  package static let quotaExceeded = Self("quota.exceeded")
}

/// A modifier, like one of a third party, that sends a notice before each run.
package struct Announcing<Operation: OperationRequest>: OperationModifier {
  fileprivate let notice: @Sendable (Operation) -> OperationNotice

  package func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    context.send(self.notice(operation))
    return try await operation.run(isolation: isolation, in: context, with: continuation)
  }
}

extension OperationRequest {
  /// Sends a notice of the operation before each run.
  package func announcing(
    _ name: OperationNotice.Name = .quotaExceeded,
    attributes: [String: OperationNotice.Value] = [:]
  ) -> ModifiedOperation<Self, Announcing<Self>> {
    self.modifier(Announcing { OperationNotice(name, of: $0, attributes: attributes) })
  }
}
