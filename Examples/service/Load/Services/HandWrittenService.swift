import Synchronization

/// The service written by hand, with Swift concurrency alone: a cache, a timeout and retries with growing delays.
final class HandWrittenService: ArticleService {
  private struct Entry {
    let text: String
    let date: ContinuousClock.Instant
  }

  private struct TimedOut: Error {}

  private static let attempts = 3

  private let upstream: Upstream
  private let cache = Mutex<[Article: Entry]>([:])

  init(upstream: Upstream) {
    self.upstream = upstream
  }

  func answer(_ article: Article, headers: [String: String]) async throws -> String {
    let known = self.cache.withLock { $0[article] }
    if let known, known.date.duration(to: .now) < freshness { return known.text }
    var attempt = 1
    while true {
      do {
        let text = try await self.withTimeout(Arrival.patience) { [upstream] in
          try await upstream.get(article, headers: ["X-Request-ID": headers["X-Request-ID"] ?? ""])
        }
        self.cache.withLock { $0[article] = Entry(text: text, date: .now) }
        return text
      } catch {
        if attempt == Self.attempts {
          // An old article is better than none.
          if let known { return known.text }
          throw error
        }
        try await Task.sleep(for: .milliseconds(50 << attempt))
        attempt += 1
      }
    }
  }

  private func withTimeout(
    _ limit: Duration,
    _ work: @escaping @Sendable () async throws -> String
  ) async throws -> String {
    try await withThrowingTaskGroup { group in
      group.addTask { try await work() }
      group.addTask {
        try await Task.sleep(for: limit)
        throw TimedOut()
      }
      defer { group.cancelAll() }
      guard let text = try await group.next() else { throw TimedOut() }
      return text
    }
  }
}
