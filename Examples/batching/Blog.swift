import Operation
import PostService

/// The stores and the batcher, which the screens of an application share.
final class Blog: Sendable {
  private let client: OperationClient
  private let authors: OperationBatcher<Int, Author>
  let feed: OperationStore<PaginatedState<Int, PostPage, any Error>>

  init(api: PostAPI) {
    // With the client's defaults, callers that load the same share a run.
    self.client = OperationClient(storeCreator: .default(networkObserver: nil, activityObserver: nil))
    // Two milliseconds are enough in a program. A busy machine needs more for the checks.
    self.authors = OperationBatcher(maximumSize: 100, window: .milliseconds(50)) { ids, _ in
      let authors = try await api.authors(ids: ids)
      return Dictionary(uniqueKeysWithValues: authors.map { ($0.id, .success($0)) })
    }
    self.feed = self.client.store(for: FeedQuery(api: api))
  }

  /// The author that a store has, or loads together with the others that are asked for at the same time.
  func author(id: Int) async throws -> Author {
    let query = self.authors.query(for: id, path: ["authors", id]).stale(after: .seconds(60))
    let store = self.client.store(for: query)
    if let author = store.currentValue, !store.isStale { return author }
    return try await store.fetch()
  }
}

/// All posts, in pages.
struct FeedQuery: PaginatedRequest {
  static let pageSize = 10

  let api: PostAPI
  let initialPageId = 0

  var path: OperationPath { ["feed"] }

  func pageId(
    after page: Page<Int, PostPage>,
    using paging: Paging<Int, PostPage>,
    in context: OperationContext
  ) -> Int? {
    let next = page.id + Self.pageSize
    return next < page.value.total ? next : nil
  }

  func fetchPage(
    isolation: isolated (any Actor)?,
    using paging: Paging<Int, PostPage>,
    in context: OperationContext,
    with continuation: OperationContinuation<PostPage, any Error>
  ) async throws -> PostPage {
    try await self.api.page(limit: Self.pageSize, skip: paging.pageId)
  }
}
