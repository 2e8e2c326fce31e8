import CoreFixtures
import FoundationEssentials
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// An initial value of a known age: staleness rules count from its date.
@Suite(.bounded, .warningsAreIssues)
struct DatedValueTests {
  private let clock = ManualClock(date: Date(timeIntervalSinceReferenceDate: 1_000))
  private let script = IntScript()

  private func store(updatedAt seconds: Double) -> IntStore {
    IntStore.detached(
      query: self.script.automaticQuery().stale(after: .seconds(60)).manualTime(self.clock),
      initialValue: 1,
      updatedAt: Date(timeIntervalSinceReferenceDate: seconds)
    )
  }

  @Test
  func `A young value is fresh until its age is reached`() {
    let store = self.store(updatedAt: 960)
    #expect(!store.isStale)
    self.clock.advance(by: .milliseconds(19_999))
    #expect(!store.isStale)
    self.clock.advance(by: .milliseconds(1))
    #expect(store.isStale)
  }

  @Test(arguments: [940, -1e300, Double.nan, .infinity, -.infinity, 1_001])
  func `A value that is too old, from the future or of no age is stale`(_ seconds: Double) {
    #expect(self.store(updatedAt: seconds).isStale)
  }

  @Test
  func `A value of now is fresh, and without a rule it is stale`() {
    #expect(!self.store(updatedAt: 1_000).isStale)
    #expect(IntStore.detached(query: self.script.query(), initialValue: 1, updatedAt: self.clock.now()).isStale)
  }

  @Test
  func `A fresh value is not fetched for a subscriber, and a stale one is`() async throws {
    let store = self.store(updatedAt: 1_000)
    let first = store.subscribe { _ in }
    expect(self.script.runCount, equals: 0)
    first.cancel()
    self.clock.advance(by: .seconds(60))
    let second = store.subscribe { _ in }
    try await self.script.next().succeed(2)
    try await store.reached { $0.currentValue == 2 }
    expect(store.valueLastUpdatedAt, equals: Date(timeIntervalSinceReferenceDate: 1_060))
    withExtendedLifetime(second) {}
  }

  @Test
  func `It is no result: there is no count, no status and nothing to restore`() {
    let store = self.store(updatedAt: 990)
    expect(store.currentValue, equals: 1)
    expect(store.initialValue, equals: 1)
    expect(store.valueUpdateCount, equals: 0)
    expect(store.valueLastUpdatedAt, equals: Date(timeIntervalSinceReferenceDate: 990))
    if case .idle = store.status {} else { Issue.record("The status is \(store.status).") }
    #expect(store.state.restoration == nil)
    expect(store.state.restorableValue, equals: nil)
  }

  @Test
  func `A reset returns to the value and its date`() {
    let store = self.store(updatedAt: 990)
    store.currentValue = 5
    expect(store.valueLastUpdatedAt, equals: Date(timeIntervalSinceReferenceDate: 1_000))
    store.resetState()
    expect(store.currentValue, equals: 1)
    expect(store.valueLastUpdatedAt, equals: Date(timeIntervalSinceReferenceDate: 990))
    expect(store.valueUpdateCount, equals: 0)
  }

  @Test
  func `A failure and a cancelled run leave the value and its date`() async throws {
    let store = self.store(updatedAt: 990)
    store.setResult(to: .failure(Refused()))
    expect(store.currentValue, equals: 1)
    expect(store.valueLastUpdatedAt, equals: Date(timeIntervalSinceReferenceDate: 990))
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    run.yield(7)
    expect(store.currentValue, equals: 7)
    fetch.cancel()
    try await run.cancelled()
    await #expect(throws: CancellationError.self) { try await fetch.finished() }
    expect(store.currentValue, equals: 1)
    expect(store.valueLastUpdatedAt, equals: Date(timeIntervalSinceReferenceDate: 990))
  }

  @Test(arguments: [(989.0, 1), (990.0, 8), (991.0, 8)])
  func `A stored value replaces it unless that is older`(_ seconds: Double, expected: Int) {
    var state = IntState(initialValue: 1, updatedAt: Date(timeIntervalSinceReferenceDate: 990))
    let date = Date(timeIntervalSinceReferenceDate: seconds)
    state.restore(StoredValue(value: 8, valueUpdateCount: 3, valueLastUpdatedAt: date))
    expect(state.currentValue, equals: expected)
  }

  @Test
  func `ensureValue returns a fresh one without a run`() async throws {
    let client = OperationClient()
    let query = self.script.query(path: ["number"]).stale(after: .seconds(60)).manualTime(self.clock)
    let store = client.store(for: query, initialValue: 4, updatedAt: self.clock.now())
    try await expect(client.ensureValue(for: query), equals: 4)
    expect(self.script.runCount, equals: 0)
    withExtendedLifetime(store) {}
  }

  @Test
  func `It belongs to a new store only`() {
    let client = OperationClient()
    let query = self.script.query(path: ["number"])
    let store = client.store(for: query, initialValue: 3)
    #expect(client.store(for: query, initialValue: 4, updatedAt: self.clock.now()) === store)
    expect(store.currentValue, equals: 3)
    expect(store.valueLastUpdatedAt, equals: nil)
  }

  @Test
  func `The value is released with its store`() async throws {
    let lifetimes = LifetimeTracker()
    do {
      let script = OperationScript<LifetimeTracker.Token, any Error>()
      let store = OperationClient()
        .store(for: script.query(), initialValue: lifetimes.token(), updatedAt: self.clock.now())
      expect(lifetimes.aliveCount, equals: 1)
      #expect(store.currentValue != nil)
    }
    try await lifetimes.noneAlive()
  }
}
