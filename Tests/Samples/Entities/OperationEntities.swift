import OperationCore
import OperationEntities
import OperationMutation

struct FeedQuery: QueryRequest, Hashable {
  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<[Post], any Error>
  ) async throws -> [Post] { sample() }
}

struct PostPage: Sendable {
  var post: Post
  var author: User?
  var comments: [Comment]
}

struct PostPageQuery: QueryRequest, Hashable {
  let id: Int

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<PostPage, any Error>
  ) async throws -> PostPage { sample() }
}

struct NewTitle: Sendable {
  let postID: Int
  let title: String
}

struct RenamePost: MutationRequest, Hashable {
  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: NewTitle,
    in context: OperationContext,
    with continuation: OperationContinuation<Post, any Error>
  ) async throws -> Post { sample() }
}
