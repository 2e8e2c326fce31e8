import Operation

struct FeedQuery: PaginatedRequest {
  let initialPageId = 0

  var path: OperationPath { ["posts", "feed"] }

  func pageId(
    after page: Page<Int, [Post]>,
    using paging: Paging<Int, [Post]>,
    in context: OperationContext
  ) -> Int? {
    page.id + 1
  }

  func fetchPage(
    isolation: isolated (any Actor)?,
    using paging: Paging<Int, [Post]>,
    in context: OperationContext,
    with continuation: OperationContinuation<[Post], any Error>
  ) async throws -> [Post] {
    try await api.posts(page: paging.pageId)
  }
}
