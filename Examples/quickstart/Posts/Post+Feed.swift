import Operation
import PostService

extension Post {
  /// All posts, in pages of `size`; fresh for a minute.
  static func feedQuery(pagesOf size: Int) -> some PaginatedRequest<Int, PostPage, any Error> {
    FeedQuery(size: size).stale(after: .seconds(60))
  }

  /// A page is identified by how many posts come before it.
  struct FeedQuery: PaginatedRequest {
    let size: Int
    let initialPageId = 0

    func pageId(
      after page: Page<Int, PostPage>,
      using paging: Paging<Int, PostPage>,
      in context: OperationContext
    ) -> Int? {
      let next = page.id + self.size
      return next < page.value.total ? next : nil
    }

    func fetchPage(
      isolation: isolated (any Actor)?,
      using paging: Paging<Int, PostPage>,
      in context: OperationContext,
      with continuation: OperationContinuation<PostPage, any Error>
    ) async throws -> PostPage {
      try await context.postAPI.page(limit: self.size, skip: paging.pageId)
    }
  }
}

extension Pages<Int, PostPage> {
  var posts: [Post] { self.flatMap(\.value.posts) }
}
