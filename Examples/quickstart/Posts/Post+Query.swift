import Operation
import PostService

extension Post {
  /// A post by its id, nil when there is none; fresh for a minute.
  static func query(for id: Int) -> some QueryRequest<Post?, any Error> {
    Query(id: id).stale(after: .seconds(60))
  }

  struct Query: QueryRequest {
    let id: Int

    func fetch(
      isolation: isolated (any Actor)?,
      in context: OperationContext,
      with continuation: OperationContinuation<Post?, any Error>
    ) async throws -> Post? {
      try await context.postAPI.post(id: self.id)
    }
  }
}
