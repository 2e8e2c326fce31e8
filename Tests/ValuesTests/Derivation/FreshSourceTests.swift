import OperationCore
import OperationDerivation
import OperationFreshness
import OperationTesting
import TestFixtures
import Testing

/// What a derived query reads of sources whose own callers may get a value before a run has ended.
@Suite(.bounded, .warningsAreIssues)
struct FreshSourceTests {
  private let client = OperationClient.automatic()
  private let clock = ManualClock()
  private let script = OperationScript<Int, any Error>()

  /// A source that is fresh for a hundred seconds.
  private var source: some QueryRequest<Int, any Error> {
    self.script.query(path: ["source"]).stale(after: .seconds(100)).manualTime(self.clock)
  }

  private func tenfold(_ source: some QueryRequest<Int, any Error>) -> Derived {
    Derived("tenfold") { try await $0.value(of: source) * 10 }
  }

  @Test
  func `A source that serves its last value to callers is awaited by a derived query`() async throws {
    let source = self.source.servesStale(softTimeout: .milliseconds(200), maximumAge: .seconds(600))
    let store = self.client.store(for: source)
    store.currentValue = 1
    self.clock.advance(by: .seconds(101))
    let derived = self.tenfold(source)
    let shown = Shown(self.client.store(for: derived.query))
    let run = try await self.script.next()
    // A caller of the source would have its last value by now.
    self.clock.advance(by: .seconds(1))
    #expect(shown.all.isEmpty && self.client.store(for: derived.query).isLoading)
    run.succeed(2)
    await self.client.settledDerivations()
    #expect(shown.all == [20] && self.script.runCount == 1 && derived.calls.value == 1)
  }

  @Test
  func `A source that serves its last value after a failure fails a derived query, which keeps its value`() async throws
  {
    let source = self.source.servesStale(onFailureFor: .seconds(600))
    let store = self.client.store(for: source)
    store.currentValue = 1
    let derived = self.tenfold(source)
    let derivedStore = self.client.store(for: derived.query)
    try await expect(derivedStore.fetch(), equals: 10)
    self.clock.advance(by: .seconds(101))
    self.script.enqueue(.error(Missing()), .error(Missing()))
    try await expect(store.fetch(), equals: 1)
    await #expect(throws: Missing.self) { try await derivedStore.fetch() }
    #expect(derivedStore.currentValue == 10 && derivedStore.error is Missing)
  }

  @Test
  func `A derived query serves its own last value when a source fails`() async throws {
    let store = self.client.store(for: self.source)
    store.currentValue = 1
    let derived = self.tenfold(self.source)
    let derivedStore = self.client.store(
      for: derived.query.servesStale(onFailureFor: .seconds(600)).manualTime(self.clock)
    )
    try await expect(derivedStore.fetch(), equals: 10)
    self.clock.advance(by: .seconds(101))
    self.script.enqueue(.error(Missing()), .value(2))
    try await expect(derivedStore.fetch(), equals: 10)
    #expect(derivedStore.error is Missing && derivedStore.isStale)
    try await expect(derivedStore.fetch(), equals: 20)
    #expect(derivedStore.error == nil && self.script.runCount == 2)
  }

  @Test
  func `A source that refreshes early for its callers is read as it is while it is fresh`() async throws {
    let source = self.source.refreshesEarly(after: 0.8)
    let store = self.client.store(for: source)
    store.currentValue = 1
    let derived = self.tenfold(source)
    let derivedStore = self.client.store(for: derived.query)
    let shown = Shown(derivedStore)
    self.clock.advance(by: .seconds(90))
    try await expect(derivedStore.fetch(), equals: 10)
    #expect(self.script.runCount == 0 && !derivedStore.isStale)
    try await expect(store.fetch(), equals: 1)
    try await self.script.next().succeed(2)
    await store.settled()
    await self.client.settledDerivations()
    #expect(shown.all == [10, 20] && self.script.runCount == 1)
  }
}
