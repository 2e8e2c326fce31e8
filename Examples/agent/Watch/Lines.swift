import Operation

/// The text that the endpoint has at a path.
struct Lines: QueryRequest {
  let name: String
  let endpoint: Endpoint

  var path: OperationPath { OperationPath(self.name.split(separator: "/").map { OperationPath.Element(String($0)) }) }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<String?, any Error>
  ) async throws -> String? {
    try await self.endpoint.text(at: self.name)
  }
}
