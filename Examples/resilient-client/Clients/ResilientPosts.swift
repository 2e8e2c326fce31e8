package import Operation
package import PostService
import Synchronization

/// A client with all of the modifiers.
final class ResilientPosts: PostSource {
  private let api: PostAPI
  private let client: OperationClient
  private let cache = PostCache()

  // One of each for the server, shared by the operations on all posts.
  let breaker = CircuitBreaker(
    name: "posts",
    failureRatio: 0.5,
    minimumRuns: 10,
    window: .seconds(1),
    openFor: .exponential(.milliseconds(250)).capped(at: .seconds(1))
  )
  let limit = ConcurrencyLimit(4, queue: 30)
  let budget = RetryBudget(ratio: 0.2, minimumPerSecond: 2)

  let notices = NoticeCounts()
  /// The runs, each of which may serve several callers.
  let runs = Counter()
  /// The requests of the runs, including hedges and retries.
  let attempts = Counter()

  init(api: PostAPI) {
    self.api = api
    var context = OperationContext()
    context.operationNoticeObservers = [self.notices]
    self.client = OperationClient(
      defaultContext: context,
      storeCreator: .default(networkObserver: nil, activityObserver: nil)
    )
  }

  func post(id: Int) async throws -> Answer {
    let isFallback = Atomic(false)
    let store = self.client.store(for: self.query(for: id))
    let handler = QueryEventHandler<QueryState<Post?, any Error>>(onResultReceived: { _, context in
      if context.isFallback { isFallback.store(true, ordering: .relaxed) }
    })
    let post = try await store.fetch(handler: handler)
    return Answer(post: post, isFallback: isFallback.load(ordering: .relaxed))
  }
}

extension ResilientPosts {
  private func query(for id: Int) -> some QueryRequest<Post?, any Error> {
    QueryOperation("posts", id) { [api, cache] _ in
      let post = try await api.post(id: id)
      cache[id] = post
      return post
    }
    .counted(by: self.attempts)
    // An attempt takes 20 ms as a rule.
    .timeout(.milliseconds(500))
    .hedged(after: .milliseconds(200), maximum: 2, budget: self.budget)
    .circuitBreaker(self.breaker)
    .limited(by: self.limit, maximumWait: .milliseconds(200))
    .retry(limit: 3)
    .backoff(.exponential(.milliseconds(50)).jittered())
    .retryBudget(self.budget)
    // All attempts together, with their delays and their waits.
    .deadline(after: .milliseconds(800))
    .fallback { [cache] error, _ in
      guard let post = cache[id] else { throw error }
      return post
    }
    .counted(by: self.runs)
    // Callers of one post share a run.
    .deduplicated()
  }
}
