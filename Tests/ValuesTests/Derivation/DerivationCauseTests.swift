import OperationCore
import OperationDerivation
import OperationEvents
import OperationTesting
import TestFixtures
import Testing

/// What causes and explanations tell of derived queries.
@Suite(.bounded, .warningsAreIssues)
struct DerivationCauseTests {
  private let client = OperationClient.automatic()

  @Test func `A derived query runs because a source has changed, and tells its sources and readers`() async throws {
    let cell = Cell("a", 1)
    let sum = Derived("sum") { context in try await context.value(of: cell.query) + 1 }
    let store = self.client.store(for: sum.query)
    let causes = Log<String>()
    let subscription = store.subscribe(
      with: OperationEventHandler(onRunStarted: { causes.append("\($0.operationRunCause, default: "none")") })
    )
    _ = try await self.client.ensureValue(for: sum.query)
    await self.client.settledDerivations()
    self.client.store(for: cell.query).currentValue = 5
    await self.client.settledDerivations()
    #expect(store.currentValue == 6)
    #expect(causes.all == ["a new subscriber", "a change of its source [\"cell\", \"a\"]"])

    #expect(store.explain().sections == [.init(title: "Sources", facts: ["[\"cell\", \"a\"], fresh"])])
    #expect(self.client.explain(["cell", "a"]).subscribers == [sum.query.operationName])
    subscription.cancel()
    self.client.invalidate(matching: ["cell"])
    #expect(store.explain().sections == [.init(title: "Sources", facts: ["[\"cell\", \"a\"], stale"])])
    #expect(store.staleness.reason == .rule("one of its sources has changed or is stale"))
  }
}
