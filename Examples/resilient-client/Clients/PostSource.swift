import PostService

/// A source of posts: one of the two clients that are compared.
protocol PostSource: Sendable {
  func post(id: Int) async throws -> Answer
}

/// The answer to a call.
struct Answer: Sendable {
  let post: Post?
  /// Whether the post is an earlier one from the cache, because the server did not answer.
  var isFallback = false
}

/// A client without modifiers: it sends a request for each call.
struct BarePosts: PostSource {
  let api: PostAPI

  func post(id: Int) async throws -> Answer {
    Answer(post: try await self.api.post(id: id))
  }
}
