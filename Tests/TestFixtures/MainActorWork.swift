package import OperationCore

/// An operation that stops the process unless it runs on the main actor, before and after it calls a closure.
package struct MainActorWork: OperationRequest, Sendable {
  private let body: @MainActor @Sendable (OperationContext) async throws -> Int

  package init(body: @escaping @MainActor @Sendable (OperationContext) async throws -> Int) {
    self.body = body
  }

  package func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    MainActor.preconditionIsolated()
    let value = try await self.body(context)
    MainActor.preconditionIsolated()
    return value
  }
}
