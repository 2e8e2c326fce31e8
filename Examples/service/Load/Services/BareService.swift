import Operation

/// The service without modifiers for trouble: its client keeps fresh articles, and callers of one article share a run.
final class BareService: ArticleService {
  private let upstream: Upstream
  private let client = OperationClient(
    storeCreator: .default(retryLimit: 0, networkObserver: nil, activityObserver: nil)
  )

  init(upstream: Upstream) {
    self.upstream = upstream
  }

  func answer(_ article: Article, headers: [String: String]) async throws -> String {
    var context = OperationContext()
    context.requestID = headers["X-Request-ID"] ?? ""
    let query = QueryOperation("articles", article) { [upstream] context in
      try await upstream.get(article, headers: ["X-Request-ID": context.requestID])
    }
    .stale(after: freshness)
    .cacheTime(.seconds(5))
    let store = self.client.store(for: query)
    if !store.isStale, let text = store.currentValue { return text }
    return try await store.fetch(using: context)
  }
}
