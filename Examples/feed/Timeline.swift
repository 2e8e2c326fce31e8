import Foundation
import Operation
import OperationEntities
import OperationHTTP

/// The operations of the feed, over HTTP.
struct Timeline: Sendable {
  typealias FeedState = PaginatedState<Int, [Article], any Error>
  typealias PageState = QueryState<Article, any Error>

  let address: URL
  /// Whether the operations say which parts of their values are articles.
  let namesEntities: Bool

  /// The store of the feed, page by page, the newest article first.
  func feed(in client: OperationClient) -> OperationStore<FeedState> {
    let feed = FeedQuery(address: self.address).retry(limit: 0).stale(after: .seconds(60))
    return self.namesEntities ? client.store(for: feed.entities { $0.each(\.self) }) : client.store(for: feed)
  }

  /// The store of one article's page.
  func page(_ id: Int, in client: OperationClient) -> OperationStore<PageState> {
    let page = QueryOperation("article", id) { [address] id, context in
      try await context.send(OperationHTTPRequest(address.appending(path: "articles/\(id)"))).decoded(as: Article.self)
    }
    .retry(limit: 0)
    .stale(after: .seconds(60))
    return self.namesEntities ? client.store(for: page.entities { $0.one(\.self) }) : client.store(for: page)
  }

  /// Gives an article another title. The screens show it at once, and then what the server has made of it.
  var renaming: some MutationRequest<Article, Article, any Error> {
    MutationOperation("article", "rename") { [address] (article: Article, context) in
      let request = OperationHTTPRequest(
        address.appending(path: "articles/\(article.id)"),
        method: "PUT",
        body: try JSONEncoder().encode(Title(title: article.title))
      )
      return try await context.send(request).decoded(as: Article.self)
    }
    .editsEntity(Article.self, id: { $0.id }, optimistically: { $0.title = $1.title }, result: { $0 })
  }
}

/// The articles, page by page. A page begins after so many articles: so they move to later pages when new ones come.
private struct FeedQuery: PaginatedRequest {
  static let size = 4

  let address: URL
  let initialPageId = 0

  var path: OperationPath { ["feed"] }

  func pageId(
    after page: Page<Int, [Article]>,
    using paging: Paging<Int, [Article]>,
    in context: OperationContext
  ) -> Int? {
    page.value.count < Self.size ? nil : page.id + Self.size
  }

  func fetchPage(
    isolation: isolated (any Actor)?,
    using paging: Paging<Int, [Article]>,
    in context: OperationContext,
    with continuation: OperationContinuation<[Article], any Error>
  ) async throws -> [Article] {
    let items = [
      URLQueryItem(name: "skip", value: "\(paging.pageId)"), URLQueryItem(name: "limit", value: "\(Self.size)"),
    ]
    let request = OperationHTTPRequest(self.address.appending(path: "articles").appending(queryItems: items))
    return try await context.send(request).decoded(as: [Article].self)
  }
}
