import Operation
import OperationFleet

/// An article, as the upstream has it.
struct Article: Codable, Hashable, Sendable {
  let id: Int
  /// Counts up with each edit.
  let version: Int
}

/// Fetches an article from the upstream.
struct ArticleQuery: QueryRequest {
  let id: Int
  var path: OperationPath { ["articles", self.id] }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Article, any Error>
  ) async throws -> Article {
    guard let upstream = context.upstream else { throw CancellationError() }
    return Article(id: self.id, version: await upstream.version(of: self.id))
  }
}

extension OperationClient {
  /// The store of an article, whose runs and values all processes share.
  func articleStore(_ id: Int) -> OperationStore<QueryState<Article, any Error>> {
    self.store(
      for: ArticleQuery(id: id).stale(after: .seconds(600)).sharedInFleet(as: "article", timeToLive: .seconds(600))
    )
  }

  /// Returns the article: this process answers with its own value while that is fresh, and asks the fleet otherwise.
  func article(_ id: Int) async throws -> Article {
    let store = self.articleStore(id)
    if !store.isStale, let article = store.currentValue { return article }
    return try await store.fetch()
  }
}

extension OperationContext {
  /// What answers the requests of this process.
  var upstream: UpstreamConnection? {
    get { self[UpstreamKey.self] }
    set { self[UpstreamKey.self] = newValue }
  }

  private enum UpstreamKey: Key {
    static var defaultValue: UpstreamConnection? { nil }
  }
}
