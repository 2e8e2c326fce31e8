package import OperationCore

/// An operation that calls a closure, and may write to the context in its setup.
package struct Work<Value: Sendable, Failure: Error>: OperationRequest, Sendable {
  private let configure: @Sendable (inout OperationContext) -> Void
  package let body: @Sendable (OperationContext, OperationContinuation<Value, Failure>) async throws(Failure) -> Value

  package init(
    configure: @escaping @Sendable (inout OperationContext) -> Void = { _ in },
    body: @escaping @Sendable (OperationContext, OperationContinuation<Value, Failure>) async throws(Failure) -> Value
  ) {
    self.configure = configure
    self.body = body
  }

  package func setup(context: inout OperationContext) {
    self.configure(&context)
  }

  package func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Value, Failure>
  ) async throws(Failure) -> Value {
    try await self.body(context, continuation)
  }
}
