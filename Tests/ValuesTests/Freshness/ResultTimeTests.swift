import OperationCore
import OperationEvents
import OperationFreshness
import OperationTesting
import TestFixtures
import Testing

/// `.keepsFor(_:)`: a result decides its time.
@Suite(.bounded, .warningsAreIssues)
struct ResultTimeTests {
  private let clock = ManualClock()
  private let script = OperationScript<[Int], any Error>()
  private let client = OperationClient()

  /// An empty answer is kept for a second, a full one for an hour.
  private var query: some QueryRequest<[Int], any Error> {
    self.script.query(path: ["search"]).keepsFor { $0.isEmpty ? .seconds(1) : .seconds(3600) }.manualTime(self.clock)
  }

  @Test func `An empty answer is asked for again after a second, and a full one after an hour`() async throws {
    let store = self.client.store(for: self.query)
    #expect(store.isStale)
    self.script.enqueue(.value([]))
    try await expect(self.client.ensureValue(for: self.query), equals: [])
    #expect(!store.isStale)
    self.clock.advance(by: .milliseconds(999))
    try await expect(self.client.ensureValue(for: self.query), equals: [])
    self.clock.advance(by: .milliseconds(1))
    #expect(store.isStale)
    self.script.enqueue(.value([1]))
    try await expect(self.client.ensureValue(for: self.query), equals: [1])
    self.clock.advance(by: .seconds(3599))
    try await expect(self.client.ensureValue(for: self.query), equals: [1])
    self.clock.advance(by: .seconds(2))
    #expect(store.isStale && self.script.runCount == 2)
    // A value that is set has its time, too.
    store.currentValue = []
    #expect(!store.isStale)
    self.clock.advance(by: .seconds(1))
    #expect(store.isStale)
  }

  @Test func `An idle store keeps an empty answer for a second, and a full one for an hour`() async throws {
    for (value, seconds) in [([1], 3600), ([], 1)] {
      self.script.enqueue(.value(value))
      try await expect(self.client.store(for: self.query).fetch(), equals: value)
      self.clock.advance(by: .milliseconds(seconds * 1000 - 1))
      #expect(self.client.store(with: ["search"]) != nil)
      self.clock.advance(by: .milliseconds(1))
      #expect(self.client.store(with: ["search"]) == nil)
    }
  }

  @Test func `Without a value the cache time is that of the context`() async throws {
    let query = self.query.cacheTime(.seconds(20))
    let store = self.client.store(for: query)
    let subscription = store.subscribe(with: QueryEventHandler())
    expect(store.context.operationCacheTime, equals: .seconds(20))
    store.currentValue = []
    expect(store.context.operationCacheTime, equals: .seconds(1))
    store.currentValue = [1]
    expect(store.context.operationCacheTime, equals: .seconds(3600))
    store.resetState()
    expect(store.context.operationCacheTime, equals: .seconds(20))
    store.withExclusiveAccess { $0.currentValue = [] }
    expect(store.context.operationCacheTime, equals: .seconds(1))
    subscription.cancel()
  }

  @Test func `Another rule may make a value stale earlier, and a negative time counts as zero`() {
    let both = OperationStore.detached(query: self.query.stale(after: .seconds(60)))
    both.currentValue = [1]
    self.clock.advance(by: .seconds(59))
    #expect(!both.isStale)
    self.clock.advance(by: .seconds(1))
    #expect(both.isStale)
    let negative = OperationStore.detached(
      query: self.script.query().keepsFor { _ in .seconds(-1) }.manualTime(self.clock)
    )
    negative.currentValue = [1]
    #expect(negative.isStale && negative.context.operationCacheTime == .zero)
  }

  @Test func `It is explained`() {
    let store = OperationStore.detached(query: self.query)
    store.currentValue = []
    self.clock.advance(by: .seconds(2))
    #expect(store.explain().modifiers.contains(".keepsFor { … }"))
    #expect("\(store.explain())".contains("its value is older than 1 s"))
  }

  @Test func `Nothing of it is left after its store`() {
    let releases = Counter()
    var store: OperationStore<QueryState<[Int], any Error>>?
    do {
      let object = ReleaseCallback { releases.increment() }
      let query = self.script.query().keepsFor { _ in withExtendedLifetime(object) { .seconds(1) } }
      store = OperationStore.detached(query: query.manualTime(self.clock))
      store?.currentValue = [1]
    }
    expect(releases.value, equals: 0)
    store = nil
    expect(releases.value, equals: 1)
  }
}
