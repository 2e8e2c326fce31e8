import OperationCore
import OperationMutation
import OperationPagination

struct FeedQuery: SimplePaginatedRequest, Hashable {
  let initialPageId = 0

  func pageId(
    after page: Page<Int, [Post]>,
    using paging: Paging<Int, [Post]>,
    in context: OperationContext
  ) -> Int? { nil }

  func fetchPage(using paging: Paging<Int, [Post]>, in context: OperationContext) async throws -> [Post] { [] }
}

struct RenamePost: SampleMutation {}

struct DeletePost: SampleMutation {}

struct HidePost: MutationRequest, Hashable {
  func mutate(
    isolation: isolated (any Actor)?,
    with id: Int,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, any Error>
  ) async throws {}
}

struct Draft: Sendable {
  let text: String
}

let drafts: OperationStore<MutationState<Draft, Post, any Error>> = sample()
let text: String = sample()
