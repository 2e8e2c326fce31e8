import Operation
import PostService

extension Post {
  /// Creates a post. Feeds show it at their end at once: as a draft until the server has answered, and then as the
  /// server has it, after a refetch. If the server refuses the post, the draft is removed.
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
