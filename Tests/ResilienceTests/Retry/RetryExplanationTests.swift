import OperationBackoff
import OperationCore
import OperationEvents
import OperationRetry
import OperationTesting
import TestFixtures
import Testing

/// What explanations and events tell of attempts.
@Suite(.bounded, .warningsAreIssues)
struct RetryExplanationTests {
  private let clock = ManualClock()
  private let script = OperationScript<Int, any Error>()

  private var store: OperationStore<QueryState<Int, any Error>> {
    .detached(
      query: self.script.query(path: ["posts", 1]).retry(limit: 3).backoff(.constant(.seconds(2))).context {
        $0.operationRetryAfterJitter = .none
      }
      .manualTime(
        self.clock
      )
    )
  }

  @Test func `Attempt 2 of 4 begins in 1.2 s, because the server asked for it`() async throws {
    self.script.enqueue(.error(Hinted(retryAfter: .milliseconds(1200))))
    let store = self.store
    let fetch = Task.immediate { try await store.fetch() }
    try await self.clock.sleepers(count: 1)
    expect(
      store.explain().runs.map(\.description),
      equals: [
        """
        A run is under way: started by a call; attempt 2 of 4 begins in 1.2 s, because the server asked for it; attempt 1 \
        failed: hinted.
        """
      ]
    )
    fetch.cancel()
    _ = await fetch.result
  }

  @Test func `An attempt under way, and one after the usual delay`() async throws {
    let store = self.store
    let fetch = Task.immediate { try await store.fetch() }
    let first = try await self.script.next()
    expect(
      store.explain().runs.first?.description,
      equals: "A run is under way: started by a call; it is in attempt 1 of 4."
    )
    first.fail(Refused())
    try await self.clock.sleepers(count: 1)
    self.clock.advance(by: .milliseconds(500))
    expect(
      store.explain().runs.first?.description,
      equals: """
        A run is under way: started by a call; attempt 2 of 4 begins in 1.5 s; attempt 1 failed: Refused(code: 0).
        """
    )
    self.clock.advance(by: .milliseconds(1500))
    try await self.script.next().succeed(1)
    try await expect(fetch.value, equals: 1)
  }

  @Test func `An operation that is not retried has no limit`() async throws {
    let store = OperationStore.detached(query: self.script.query(path: ["posts", 1]).retry(limit: 0))
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    expect(store.explain().runs.first?.description, equals: "A run is under way: started by a call.")
    run.succeed(1)
    _ = try await fetch.value
  }

  @Test func `A budget that is used up`() async throws {
    let posts = PostFixture()
    let budget = RetryBudget(name: "db", ratio: 0, minimumPerSecond: 0)
    let store = OperationStore.detached(query: posts.freshQuery.retry(limit: 1).backoff(.noBackoff).retryBudget(budget))
    _ = store.explain()
    posts.script.enqueue(.error(Refused()))
    await #expect(throws: Refused.self) { try await store.fetch() }
    posts.clock.advance(by: .seconds(2))
    expect(
      store.explanationText,
      equals: """
        GetPost at ["posts", 1]
        It has no value.
        Its last result is an error of 2 s ago: Refused(code: 0).
        It is stale, because it has no value.
        It has no subscribers.
        Earlier runs, newest first:
          2 s ago: failed after 0 s: Refused(code: 0), started by a call
        Retry budget: db: 0 left, of 0.0 for each run and 0.0 a second; 1 runs, 0 further attempts, 1 refused
        Notices: retry.over_budget budget.name=db 2 s ago.
        """
    )
  }
}

private struct Hinted: RetryHinting, CustomStringConvertible {
  let retryAfter: OperationDuration?

  var description: String { "hinted" }
}
