import OperationCore
import OperationPagination
import OperationTesting
import Testing

// The sample "Pagination" of the overview, with a server of the test.

struct Post: Hashable, Identifiable, Sendable, Codable {
  let id: Int
}

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
    private static let limit = 10

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
      return FeedPage(posts: (skip..<skip + Self.limit).map { Post(id: $0) }, total: 15, skip: skip)
    }
  }
}

@Suite(.timeLimit(.minutes(10)), .warningsAreIssues)
struct FeedSample {
  @Test
  func `The feed is loaded to its end`() async throws {
    let client = OperationClient()
    let feed = client.store(for: Post.feedQuery)
    var count = 0
    while let page = try await feed.fetchNextPage() { count += page.value.posts.count }
    #expect(count == 30)
    #expect(feed.currentValue.count == 3)
    for page in feed.currentValue { #expect(page.value.skip == page.id * 10) }
    let _: PagesFor<Post.FeedQuery> = feed.currentValue
  }
}
