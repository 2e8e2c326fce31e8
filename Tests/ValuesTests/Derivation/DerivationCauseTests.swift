import OperationCore
import OperationDerivation
import OperationEvents
import OperationTesting
import TestFixtures
import Testing

/// Derived queries run for a cause, which causes and explanations tell.
@Suite(.bounded, .warningsAreIssues)
struct DerivationCauseTests {
  private let client = OperationClient.automatic()

  @Test func `A query that reads a source for the first time takes what was fetched for the same cause`() async throws {
    let cell = Cell("a", 1)
    let first = Derived("first") { context in try await context.value(of: cell.alwaysStale) }
    let second = Derived("second") { context in
      let number = try await context.value(of: first.query)
      return number == 1 ? 1 : try await context.value(of: cell.alwaysStale)
    }
    let asked = Derived("asked") { context in try await context.value(of: cell.alwaysStale) }
    let stores = [self.client.store(for: first.query), self.client.store(for: second.query)]
    let subscriptions = stores.map { $0.subscribe(with: QueryEventHandler()) }
    for store in stores { _ = try await store.fetch() }
    await self.client.settledDerivations()
    let count = cell.runCount
    cell.set(2)
    try await expect(self.client.store(for: asked.query).fetch(), equals: 2)
    await self.client.settledDerivations()
    expect(stores.map(\.currentValue), equals: [2, 2])
    expect(cell.runCount, equals: count + 1)
    for subscription in subscriptions { subscription.cancel() }
  }

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
    expect(store.currentValue, equals: 6)
    expect(causes.all, equals: ["a new subscriber", "a change of its source [\"cell\", \"a\"]"])

    expect(store.explain().sections, equals: [.init(title: "Sources", facts: ["[\"cell\", \"a\"], fresh"])])
    expect(self.client.explain(["cell", "a"]).subscribers, equals: [sum.query.operationName])
    subscription.cancel()
    self.client.invalidate(matching: ["cell"])
    expect(store.explain().sections, equals: [.init(title: "Sources", facts: ["[\"cell\", \"a\"], stale"])])
    expect(store.staleness.reason, equals: .rule("one of its sources has changed or is stale"))
  }
}
