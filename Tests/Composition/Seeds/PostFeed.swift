import Operation

// The reference documents' paginated feed, with generated posts.

extension Post {
  struct FeedPage: Codable, Sendable {
    let posts: [Post]
    let total: Int
    let skip: Int
  }
}

extension Post {
  static let feedQuery = FeedQuery()

  struct FeedQuery: PaginatedRequest, Hashable, Sendable {
    static let limit = 10
    private static let total = 20

    let initialPageId = 0

    func pageId(
      after page: Page<Int, FeedPage>,
      using paging: Paging<Int, FeedPage>,
      in context: OperationContext
    ) -> Int? {
      // Nil means there's no more pages to fetch.
      page.value.skip < page.value.total ? page.id + 1 : nil
    }

    func fetchPage(
      isolation: isolated (any Actor)?,
      using paging: Paging<Int, FeedPage>,
      in context: OperationContext,
      with continuation: OperationContinuation<FeedPage, any Error>
    ) async throws -> FeedPage {
      let skip = paging.pageId * Self.limit
      let ids = min(skip, Self.total)..<min(skip + Self.limit, Self.total)
      let posts = ids.map { Post(id: $0, userId: 1, title: "Post \($0)", body: "") }
      return FeedPage(posts: posts, total: Self.total, skip: skip)
    }
  }
}
