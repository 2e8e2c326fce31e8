import OperationCore
import OperationEvents
import OperationMutation
import OperationTesting
import TestFixtures
import Testing

/// What causes and explanations tell of mutations.
@Suite(.bounded, .warningsAreIssues)
struct MutationCauseTests {
  private let client = OperationClient()
  private let script = Script()
  private let feed = FeedScript()

  @Test func `A rerun tells the mutation that has invalidated the store`() async throws {
    let causes = Log<OperationRunCause?>()
    let query = self.feed.query(path: ["feed"]).stale(after: .seconds(1000), whenNoValue: false)
    let store = self.client.store(for: query.enableAutomaticRunning(onlyWhen: .always(true)))
    let subscription = store.subscribe(
      with: OperationEventHandler(onRunStarted: { causes.append($0.operationRunCause) })
    )
    defer { subscription.cancel() }
    let mutation = Mutation(script: self.script).invalidates(matching: ["feed"])
    self.script.enqueue(.value("done"))
    _ = try await self.client.store(for: mutation).mutate(with: "x")
    try await self.feed.next().succeed(["x"])
    await self.client.invalidate(matching: ["nothing"]).settled()
    let cause = try #require(causes.all.first ?? nil)
    expect(causes.count, equals: 1)
    #expect(cause.kind == .invalidation && cause.subject == "[\"feed\"]")
    expect(cause.invalidatingOperation, equals: mutation.operationName)
    expect("\(cause)", equals: "an invalidation of [\"feed\"] by \(mutation.operationName)")
  }

  @Test func `A mutation runs only when it is called, and is never refreshed`() {
    let clock = ManualClock()
    let store = self.client.store(for: Mutation(script: self.script).manualTime(clock))
    expect(store.staleness.reason, equals: .neverRefreshed)
    expect("\(store.staleness)", equals: "never refreshed, because it runs only when it is called")
    let lines = store.explain().description.split(separator: "\n").filter { !$0.hasPrefix("Modifiers") }
    expect(
      lines,
      equals: [
        "\(Mutation(script: self.script).operationName) at [\"mutation\"]", "It has never run.",
        "It has no subscribers.", "It runs only when it is called.", "Next: it is evicted in 5 min.",
      ]
    )
  }
}
