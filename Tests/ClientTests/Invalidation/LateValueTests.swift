import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// Values of runs that began before an invalidation, and end after another value has answered it.
@Suite(.bounded, .warningsAreIssues) struct LateValueTests {
  private let client = OperationClient()
  private let script = OperationScript<Int, any Error>()

  private func store() -> OperationStore<QueryState<Int, any Error>> {
    self.client.store(for: self.script.query(path: ["late"]).stale(after: .seconds(1_000_000), whenNoValue: false))
  }

  @Test func `A value of an older run in place of one that was set is stale, and fetched again`() async throws {
    let store = self.store()
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    self.client.invalidate(matching: ["late"])
    store.currentValue = 2
    #expect(!store.isStale)
    run.succeed(1)
    try await expect(fetch.value, equals: 1)
    expect(store.currentValue, equals: 1)
    #expect(store.isInvalidated)
    store.currentValue = 3
    #expect(!store.isStale)
  }

  @Test func `It is fetched again for the subscribers`() async throws {
    let store = self.store()
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    self.client.invalidate(matching: ["late"])
    store.currentValue = 2
    let subscription = store.subscribe(with: QueryEventHandler())
    run.succeed(1)
    _ = try await fetch.value
    try await self.script.next().succeed(3)
    for await element in store.states where element.state.currentValue == 3 { break }
    #expect(!store.isStale)
    expect(self.script.runCount, equals: 2)
    subscription.cancel()
  }

  @Test func `A value that comes back when a run is cancelled is as fresh as before`() async throws {
    let store = self.store()
    self.client.invalidate(matching: ["late"])
    store.currentValue = 1
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    run.yield(2)
    fetch.cancel()
    _ = try? await fetch.value
    expect(store.currentValue, equals: 1)
    #expect(!store.isStale)
    run.succeed(0)
  }
}
