import Operation
import PostService

extension Post {
  /// A post by its id: first as the cache has it, then as the server has it.
  static func cachedQuery(for id: Int) -> some QueryRequest<Post?, any Error> {
    CachedQuery(id: id).stale(after: .seconds(60))
  }

  struct CachedQuery: QueryRequest {
    let id: Int

    func fetch(
      isolation: isolated (any Actor)?,
      in context: OperationContext,
      with continuation: OperationContinuation<Post?, any Error>
    ) async throws -> Post? {
      async let live = context.postAPI.post(id: self.id)
      if let cached = context.postCache[self.id] {
        continuation.yield(cached)
      }
      let post = try await live
      context.postCache[self.id] = post
      return post
    }
  }
}
