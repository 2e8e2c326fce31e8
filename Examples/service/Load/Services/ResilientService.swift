import Operation

/// The service with everything on.
final class ResilientService: ArticleService {
  // One of each for the upstream, shared by the queries of all articles.

  /// A tenth more than the upstream has slots, so that none is idle while the next request is on its way. Each of the eight
  /// tenants has the first claim on two.
  let limit = PartitionedLimit(
    22,
    shares: Dictionary(uniqueKeysWithValues: Arrival.tenants.map { ("tenant-\($0)", PartitionShare(guaranteed: 2)) }),
    queue: 100,
    name: "upstream"
  ) { $0.tenant }

  let breakers = CircuitBreakers(name: "shards") { shard in
    CircuitBreaker(name: shard, minimumRuns: 10, window: .seconds(2), openFor: .constant(.seconds(1)))
  }

  /// Further attempts are at most a twentieth of the runs of the last ten seconds, and one a second.
  let budget = RetryBudget(name: "upstream", ratio: 0.05, minimumPerSecond: 1)

  private let upstream: Upstream
  private let client = OperationClient(
    storeCreator: .default(retryLimit: 0, networkObserver: nil, activityObserver: nil)
  )

  init(upstream: Upstream) {
    self.upstream = upstream
  }

  func answer(_ article: Article, headers: [String: String]) async throws -> String {
    var context = OperationContext()
    context.readCallHeaderFields(headers)
    context.tenant = headers["X-Tenant"] ?? ""
    context.requestID = headers["X-Request-ID"] ?? ""
    let store = self.client.store(for: self.query(of: article))
    if !store.isStale, let text = store.currentValue { return text }
    return try await store.fetch(using: context)
  }

  private func query(of article: Article) -> some QueryRequest<String, any Error> & Sendable {
    QueryOperation("articles", article) { [upstream] context in
      // The upstream learns how long the visitor still waits.
      let headers = context.callHeaderFields().merging(["X-Request-ID": context.requestID], uniquingKeysWith: { $1 })
      return try await upstream.get(article, headers: headers)
    }
    .circuitBreaker(self.breakers) { _, _ in "shard-\(Upstream.shard(of: article))" }
    .limited(by: self.limit, maximumWait: .milliseconds(200))
    .retry(limit: 2) { error, _ in (error as? Upstream.Refusal)?.status == 503 }
    .backoff(.exponential(.milliseconds(50)).jittered())
    .retryBudget(self.budget)
    .deadline()
    .stale(after: freshness)
    .servesStale(softTimeout: .milliseconds(500), maximumAge: .seconds(60))
    .cacheTime(.seconds(5))
  }
}
