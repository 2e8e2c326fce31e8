import OperationCore
import OperationEvents
import OperationHedging
import OperationTesting
import TestFixtures
import Testing

/// What explanations tell of hedges.
@Suite(.bounded, .warningsAreIssues)
struct HedgeExplanationTests {
  @Test func `The hedges and their budget`() async throws {
    let posts = PostFixture()
    let budget = RetryBudget(name: "db", ratio: 0.5, minimumPerSecond: 1)
    let query = posts.freshQuery.hedged(after: .seconds(1), budget: budget)
    let store = OperationStore.detached(query: query.manualTime(posts.clock))
    posts.script.enqueue(.value(1))
    try await store.fetch()
    let facts = try #require(store.explain().sections.first { $0.title == "Hedge" }?.facts)
    expect(
      facts,
      equals: [
        "hedge: after 1 s, at most 2 runs; 1 runs, 0 hedges, of which 0 won, 0 refused",
        "budget db: 10 left, of 0.5 for each run and 1.0 a second; 1 runs, 0 further attempts, 0 refused",
      ]
    )
  }
}
