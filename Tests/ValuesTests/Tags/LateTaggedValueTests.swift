import OperationCore
import OperationTags
import OperationTesting
import TestFixtures
import Testing

/// Values of runs that began before an invalidation by a tag, and arrive where another value has the tag already.
@Suite(.bounded, .warningsAreIssues) struct LateTaggedValueTests {
  private let client = OperationClient()
  private let script = OperationScript<Int, any Error>()

  private var query: some QueryRequest<Int, any Error> & Sendable {
    self.script.query(path: ["late"]).stale(after: .seconds(1_000_000), whenNoValue: false)
      .tagged { [.entity("number", $0 % 10)] }
  }

  private func store() -> OperationStore<QueryState<Int, any Error>> { self.client.store(for: self.query) }

  @Test func `A late value with the tag of the one that was set is stale`() async throws {
    let store = self.store()
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    // No value has the tag, so the invalidation finds no store.
    self.client.invalidate(tagged: .entity("number", 1))
    store.currentValue = 11
    #expect(!store.isStale)
    run.succeed(1)
    try await expect(fetch.value, equals: 1)
    #expect(store.isStale)
    store.currentValue = 21
    #expect(!store.isStale)
  }

  @Test func `Who asks after an invalidation gets no value from before it, although the run is joined`() async throws {
    let first = Task.immediate { try await self.client.ensureValue(for: self.query) }
    let run = try await self.script.next()
    self.client.invalidate(tagged: .entity("number", 1))
    // Nobody knows the tag of the value yet, so both wait for the run.
    let second = Task.immediate { try await self.client.ensureValue(for: self.query) }
    run.succeed(1)
    try await expect(first.value, equals: 1)
    try await self.script.next().succeed(11)
    try await expect(second.value, equals: 11)
    #expect(!self.store().isStale)
    expect(self.script.runCount, equals: 2)
  }

  @Test func `An invalidation that has found the store by its tag is not made twice`() async throws {
    let store = self.store()
    store.currentValue = 11
    let subscription = store.subscribe(with: QueryEventHandler())
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    self.client.invalidate(tagged: .entity("number", 1))
    run.succeed(1)
    try await expect(fetch.value, equals: 1)
    try await self.script.next().succeed(31)
    for await element in store.states where element.state.currentValue == 31 { break }
    await store.settled()
    #expect(!store.isStale)
    expect(self.script.runCount, equals: 2)
    subscription.cancel()
  }
}
