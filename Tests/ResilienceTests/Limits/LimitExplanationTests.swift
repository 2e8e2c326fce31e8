import OperationCore
import OperationEvents
import OperationLimits
import OperationTesting
import TestFixtures
import Testing

/// What explanations and events tell of limits.
@Suite(.bounded, .warningsAreIssues)
struct LimitExplanationTests {
  private let posts = PostFixture()

  @Test func `A run waits for a permit`() async throws {
    let limit = ConcurrencyLimit(1, queue: 10, name: "db")
    let store = self.posts.client.store(for: self.posts.freshQuery.limited(by: limit))
    let events = self.posts.client.events
    let first = Task.immediate { try await store.fetch() }
    let run = try await self.posts.script.next()
    self.posts.clock.advance(by: .seconds(1))
    let second = Task.immediate { try await store.fetch() }
    self.posts.clock.advance(by: .seconds(2))
    expect(
      store.explanationText,
      equals: """
        GetPost at ["posts", 1]
        It has no value.
        It is stale, because it has no value.
        It has no subscribers.
        A run is under way: started 3 s ago by a call.
        A run is under way: started 2 s ago by a call; it has waited for 2 s for a permit of ConcurrencyLimit db.
        Limit: db: 1 of 1 runs under way, 1 of 10 waiting, 0 rejected
        """
    )
    run.succeed(1)
    try await expect(withTimeLimit("the first value") { try await first.value }, equals: 1)
    try await self.posts.script.next().succeed(2)
    try await expect(withTimeLimit("the second value") { try await second.value }, equals: 2)
    let texts = try await withTimeLimit("events") {
      var (texts, iterator) = ([String](), events.makeAsyncIterator())
      while texts.count < 6, let event = await iterator.next() { texts.append(event.what.description) }
      return texts
    }
    #expect(texts.contains("waits for a permit of ConcurrencyLimit db"))
    #expect(texts.contains("has waited for 2 s for a permit of ConcurrencyLimit db"))
  }

  @Test func `A run that was cancelled waits no longer`() async throws {
    let limit = RateLimit(1, per: .seconds(10))
    let store = self.posts.client.store(for: self.posts.query.limited(by: limit))
    self.posts.script.enqueue(.value(1))
    try await store.fetch()
    let second = Task.immediate { try await store.fetch() }
    expect(store.explain().runs.first?.waits.map(\.subject), equals: ["a permit of RateLimit"])
    second.cancel()
    await #expect(throws: CancellationError.self) { try await withTimeLimit("the end") { try await second.value } }
    await store.settled()
    #expect(store.explain().runs.isEmpty)
    expect(store.explain().sections.map(\.title), equals: ["Limit"])
  }

  @Test func `The numbers of each kind of limit`() async throws {
    func facts(_ limit: some OperationLimit) -> [String] {
      let query = self.posts.query.limited(by: limit)
      return OperationStore.detached(query: query).explain().sections.flatMap(\.facts)
    }
    expect(
      facts(RateLimit(5, per: .seconds(10), queue: 3, name: "api")),
      equals: [
        "api: 5 of 5 permits available, 5 come in 10.0 s, 0 of 3 waiting, 0 rejected"
      ]
    )
    expect(
      facts(AdaptiveThrottle(name: "search")),
      equals: [
        "search: 0 of 0 runs accepted, 0 rejected here, the next with a probability of 0.0"
      ]
    )
    let adaptive = AdaptiveLimit(minimum: 1, maximum: 8, name: "adaptive")
    expect(facts(adaptive), equals: [adaptive.snapshot().description])
  }

  @Test func `A throttle that rejects`() async throws {
    // Rejects whenever it may.
    let throttle = AdaptiveThrottle(multiplier: 1, name: "search", random: { 0 })
    let query = self.posts.freshQuery.limited(by: throttle)
    let store = OperationStore.detached(query: query)
    _ = store.explain()
    for _ in 0..<2 {
      self.posts.script.enqueue(.error(Refused()))
      _ = try? await store.fetch()
    }
    self.posts.clock.advance(by: .seconds(1))
    expect(
      store.explanationText,
      equals: """
        GetPost at ["posts", 1]
        It has no value.
        Its last result is an error of 1 s ago: The limit "search" rejected the run; the last failure was: \
        Refused(code: 0).
        It is stale, because it has no value.
        It has no subscribers.
        Earlier runs, newest first:
          1 s ago: failed after 0 s: The limit "search" rejected the run; the last failure was: Refused(code: 0), \
        started by a call
          1 s ago: failed after 0 s: Refused(code: 0), started by a call
        Limit: search: 0 of 2 runs accepted, 1 rejected here, the next with a probability of 0.6666666666666666
        Notices: limit.rejected limit.name=search 1 s ago.
        """
    )
  }
}
