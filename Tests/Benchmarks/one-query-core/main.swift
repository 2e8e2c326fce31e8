import OperationCore

// A program of one query: Scripts/check-ratchets looks at its size.
struct Query: QueryRequest, Hashable {
  let id: Int

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<String, any Error>
  ) async throws -> String { "\(self.id)" }
}

print(try await OperationClient().store(for: Query(id: 1)).fetch())
