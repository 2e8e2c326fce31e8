package import OperationCore
package import OperationTesting

/// A query with a short name and path, whose runs a script answers.
package struct GetPost: QueryRequest {
  package let script: OperationScript<Int, any Error>
  package let path: OperationPath

  package init(script: OperationScript<Int, any Error>, path: OperationPath = ["posts", 1]) {
    self.script = script
    self.path = path
  }

  package func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    try await self.script.run(in: context, with: continuation)
  }
}
