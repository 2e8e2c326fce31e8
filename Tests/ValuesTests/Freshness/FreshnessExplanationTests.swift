import OperationCore
import OperationEvents
import OperationFreshness
import OperationTesting
import TestFixtures
import Testing

/// What causes and explanations tell of freshness.
@Suite(.bounded, .warningsAreIssues)
struct FreshnessExplanationTests {
  private let clock = ManualClock()
  private let script = IntScript()

  @Test func `An early refresh is the cause of the run behind a read`() async throws {
    let causes = Log<String>()
    let query = self.script.query().stale(after: .seconds(100)).refreshesEarly(after: 0.8).manualTime(self.clock)
    let store = IntStore.detached(
      query: query.handleEvents(
        with: OperationEventHandler(onRunStarted: { causes.append("\($0.operationRunCause, default: "none")") })
      )
    )
    store.currentValue = 1
    self.clock.advance(by: .seconds(80))
    try await expect(store.fetch(), equals: 1)
    try await self.script.next().succeed(2)
    await store.settled()
    expect(causes.all, equals: ["an early refresh"])
  }

  @Test func `A value that was served stale`() async throws {
    let query = self.script.query().stale(after: .seconds(100)).servesStale(
      softTimeout: .seconds(1),
      maximumAge: .seconds(600)
    )
    let store = IntStore.detached(query: query.manualTime(self.clock))
    store.currentValue = 1
    expect(
      store.explain().sections,
      equals: [
        .init(
          title: "Stale values",
          facts: ["a caller waits 1 s at most", "a stale value is served until it is 10 min old"]
        )
      ]
    )
    self.clock.advance(by: .seconds(120))
    self.script.enqueue(.error(Refused()))
    try await expect(store.fetch(), equals: 1)
    self.clock.advance(by: .seconds(3))
    let explanation = store.explain()
    expect(explanation.sections.first?.facts.first, equals: "a caller got the stale value 3 s ago")
    expect(
      explanation.notices.map(\.description),
      equals: ["freshness.stale freshness.age=2 min freshness.reason=failure 3 s ago"]
    )
    #expect(
      explanation.description.contains(
        "\nEarlier runs, newest first:\n  3 s ago: failed after 0 s: Refused(code: 0), started by a call\n"
      )
    )
  }

  @Test func `An early refresh`() async throws {
    let posts = PostFixture()
    let store = posts.client.store(for: posts.freshQuery.refreshesEarly(after: 0.8))
    store.currentValue = 1
    _ = store.explain()
    posts.clock.advance(by: .seconds(50))
    try await expect(store.fetch(), equals: 1)
    let run = try await posts.script.next()
    posts.clock.advance(by: .seconds(2))
    expect(
      store.explanationText,
      equals: """
        GetPost at ["posts", 1]
        It has a value (Int), set 52 s ago.
        It is fresh for 8 s more.
        It has no subscribers.
        A run is under way: started 2 s ago by an early refresh.
        Next: it becomes stale in 8 s.
        Notices: freshness.early freshness.age=50 s 2 s ago.
        """
    )
    run.succeed(2)
    await store.settled()
    let ended = store.explain().endedRuns.map(\.description)
    expect(ended, equals: ["0 s ago: succeeded after 2 s, started by an early refresh"])
  }
}
