import Operation
import OperationTesting
import TestFixtures
import Testing

private struct PostCache {
  var posts: [Int: Post]

  func post(for id: Int) throws -> Post? { self.posts[id] }
}

extension Post {
  fileprivate struct CachedQuery: QueryRequest, Hashable {
    static let cached = Post(id: 1, userId: 1, title: "From the cache", body: "")
    static let live = Post(id: 1, userId: 1, title: "Live", body: "")

    let id: Int

    func fetch(
      isolation: isolated (any Actor)?,
      in context: OperationContext,
      with continuation: OperationContinuation<Post?, any Error>
    ) async throws -> Post? {
      async let post = self.fetchPost(for: self.id)
      if let cached = try PostCache(posts: [1: Self.cached]).post(for: self.id) {
        continuation.yield(cached)
      }
      return try await post
    }

    private func fetchPost(for id: Int) async throws -> Post? { Self.live }
  }
}

@Suite(.bounded) struct MultipleUpdatesSamples {
  @Test func `The cached value comes before the live one`() async throws {
    let store = OperationStore.detached(query: Post.CachedQuery(id: 1))
    let recorder = EventRecorder<QueryState<Post?, any Error>>()

    let post = try await store.fetch(handler: recorder.queryHandler)

    expect(post, equals: Post.CachedQuery.live)
    let values = recorder.results.map { try? $0.get() }
    expect(values, equals: [.some(Post.CachedQuery.cached), .some(Post.CachedQuery.live)])
    expect(store.valueUpdateCount, equals: 2)
  }
}
