import OperationCore
import OperationMutation
import OperationTags

struct TaggedPost: Identifiable, Sendable {
  let id: Int
}

struct FeedQuery: QueryRequest, Hashable {
  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<[TaggedPost], any Error>
  ) async throws -> [TaggedPost] { sample() }
}

struct PostQuery: QueryRequest, Hashable {
  let id: Int

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<TaggedPost, any Error>
  ) async throws -> TaggedPost { sample() }
}

struct PostDraft: Sendable {
  let authorId: Int
}

struct EditPost: MutationRequest, Hashable {
  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: PostDraft,
    in context: OperationContext,
    with continuation: OperationContinuation<TaggedPost, any Error>
  ) async throws -> TaggedPost { sample() }
}

let client = OperationClient()
