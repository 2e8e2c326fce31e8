import Operation
import PostService

extension Post {
  /// Creates a post, which feeds show at their end from the call on: as a draft while the server thinks about it, and
  /// with all that the server made of it once they were fetched anew. When the server refuses, the draft goes.
  static var createMutation: some MutationRequest<PostDraft, Post, any Error> {
    CreateMutation()
      .optimistic(on: PathKeys.feed.path, of: FeedQuery.State.self) { pages, draft in
        guard let last = pages.last else { return }
        pages[id: last.id]?.value.posts.append(Post(draft))
      }
      .invalidates(matching: PathKeys.feed.path)
  }

  struct CreateMutation: MutationRequest {
    func mutate(
      isolation: isolated (any Actor)?,
      with draft: PostDraft,
      in context: OperationContext,
      with continuation: OperationContinuation<Post, any Error>
    ) async throws -> Post {
      try await context.postAPI.add(draft)
    }
  }
}
