/// A service in front of the upstream: one of those that are compared.
protocol ArticleService: Sendable {
  /// Returns the text of an article. The header fields are `X-Request-ID`, `X-Tenant`, and how long the visitor waits.
  func answer(_ article: Article, headers: [String: String]) async throws -> String
}

/// How long an article of the front page is fresh.
let freshness = Duration.seconds(1)
