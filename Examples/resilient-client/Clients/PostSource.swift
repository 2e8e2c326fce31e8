import PostService

/// What can be asked for posts: one of the two clients that are compared.
protocol PostSource: Sendable {
  func post(id: Int) async throws -> Answer
}

/// What a caller got.
struct Answer: Sendable {
  let post: Post?
  /// Whether the post is one of earlier, because the server did not give it.
  var isFallback = false
}

/// A client with nothing on: a request for each call.
struct BarePosts: PostSource {
  let api: PostAPI

  func post(id: Int) async throws -> Answer {
    Answer(post: try await self.api.post(id: id))
  }
}
