import CoreFixtures
import OperationEvents
import OperationTesting
import TestFixtures
import Testing

@testable import OperationClients
@testable import OperationStores

/// The causes of events outside of runs: writes, evictions, and values that become stale.
@Suite(.bounded, .warningsAreIssues)
struct EventCauseTests {
  private let client = OperationClient()
  private let clock = ManualClock()
  private let script = IntScript()

  private var query: ContextModifiedOperation<IntQuery> { self.script.query(path: ["a"]).manualTime(self.clock) }

  // MARK: - Writes

  @Test
  func `A write has the task that makes it as its cause`() async throws {
    let store = self.client.store(for: self.query)
    let events = self.client.events
    await Task.immediate(name: "import") { store.currentValue = 1 }.value
    try await expect(next(1, of: events), equals: ["a value was set by a call in the task import"])
  }

  @Test
  func `A write in the body of another operation has that operation as its cause, with and without its context`()
    async throws
  {
    let (client, query) = (self.client, self.query)
    let store = client.store(for: query)
    let events = client.events
    let other = QueryOperation<Int, any Error>("b", operationName: "Import") { context in
      let store = client.store(for: query)
      store.currentValue = 1
      store.setResult(to: .success(2), using: context)
      await Task { store.currentValue = 3 }.value
      client.invalidate(matching: ["a"], isolation: nil)
      client.clearStore(with: ["a"])
      return 1
    }
    try await client.store(for: other.manualTime(self.clock)).fetch()
    let texts = try await next(8, of: events)
    expect(
      texts,
      equals: [
        "store added", "run 1 began, started by a call", "a value was set by Import", "a value was set by Import",
        "a value was set by Import", "invalidated: an invalidation of [\"a\"] by Import",
        "store removed: cleared by Import", "run 1 succeeded after 0 s",
      ]
    )
    withExtendedLifetime(store) {}
  }

  @Test
  func `A write with a context that has no client is an event of the store's client, dated by that context`()
    async throws
  {
    let store = self.client.store(for: self.query)
    let events = self.client.events
    self.clock.advance(by: .seconds(3))
    let other = ManualClock()
    var context = OperationContext()
    context.use(other)
    context.operationRunCause = OperationRunCause(OperationRunCause.Kind("push"), subject: "new-message")
    store.setResult(to: .success(1), using: context)
    let event = try #require(try await withTimeLimit("an event") { await events.first { _ in true } })
    expect(event.sentence, equals: "a value was set by push: new-message")
    #expect(event.date == other.now() && event.elapsed == .seconds(3))
  }

  @Test
  func `A controller is the cause of its changes`() async throws {
    let controls = Box<OperationControls<IntState>?>(nil)
    let store = self.client.store(for: self.query.controlled(by: Controlling(controls: controls)))
    let events = self.client.events
    controls.value?.yield(1)
    controls.value?.yieldResetState()
    let texts = try await next(2, of: events)
    expect(
      texts,
      equals: [
        "the state was changed by the controller Controlling",
        "the state was reset by the controller Controlling",
      ]
    )
    withExtendedLifetime(store) {}
  }

  // MARK: - Staleness

  @Test
  func `A value that becomes stale by its age is an event, also after it was renewed`() async throws {
    let store = self.client.store(for: self.query.stale(after: .seconds(60)).cacheTime(.seconds(10_000)))
    let events = self.client.events
    store.currentValue = 1
    self.clock.advance(by: .seconds(30))
    store.currentValue = 2
    self.clock.advance(by: .seconds(59))
    #expect(!store.isStale)
    self.clock.advance(by: .seconds(1))
    #expect(store.isStale)
    self.clock.advance(by: .seconds(1000))
    store.currentValue = 3
    self.clock.advance(by: .seconds(60))
    let stale = "became stale, because its value is older than 1 min"
    let set = "a value was set by a call"
    try await expect(next(5, of: events), equals: [set, set, stale, set, stale])
  }

  @Test
  func `A value that is fresh for a shorter time than the one before becomes stale in time`() async throws {
    let seconds = Box(100.0)
    let query = self.query.context { [clock] context in
      context.addFreshPeriods(of: IntState.self) { state, _ in
        state.valueLastUpdatedAt.map { FreshPeriod(start: $0, seconds: seconds.value) }
      }
      context.use(clock)
    }
    let store = self.client.store(for: query)
    let events = self.client.events
    store.currentValue = 1
    seconds.value = 5
    store.currentValue = 2
    self.clock.advance(by: .seconds(5))
    try await expect(next(3, of: events).last, equals: "became stale, because its value is older than 5 s")
  }

  @Test
  func `Nothing waits for the age of a value when nobody reads the events, or when it is not known`() async throws {
    let store = self.client.store(for: self.query.stale(after: .seconds(60)).cacheTime(.seconds(10_000)))
    let deadlines = self.clock.sleeperCount()
    store.currentValue = 1
    _ = store.explain()
    store.currentValue = 2
    expect(self.clock.sleeperCount(), equals: deadlines)
    do {
      let events = self.client.events
      store.currentValue = 3
      expect(self.clock.sleeperCount(), equals: deadlines + 1)
      store.currentValue = 4
      expect(self.clock.sleeperCount(), equals: deadlines + 1)
      withExtendedLifetime(events) {}
    }
    self.clock.advance(by: .seconds(60))
    expect(self.clock.sleeperCount(), equals: deadlines)
    let unknown = self.client.store(for: self.script.query(path: ["b"]).manualTime(self.clock))
    let events = self.client.events
    let before = self.clock.sleeperCount()
    unknown.currentValue = 1
    expect(self.clock.sleeperCount(), equals: before)
    withExtendedLifetime(events) {}
  }

  // MARK: - Evictions

  @Test
  func `A store that was idle for its cache time`() async throws {
    let events = self.client.events
    _ = self.client.store(for: self.query.cacheTime(.seconds(10)))
    self.clock.advance(by: .seconds(10))
    let texts = try await next(2, of: events)
    expect(texts, equals: ["store added", "store removed: evicted because of its cache time of 10 s"])
  }

  @Test
  func `The oldest of too many idle stores`() async throws {
    let client = OperationClient(storeCache: OperationClient.DefaultStoreCache(maximumIdleStores: 1))
    let events = client.events
    _ = client.store(for: NumberQuery(1))
    _ = client.store(for: NumberQuery(2))
    let texts = try await next(3, of: events)
    expect(
      texts,
      equals: [
        "store added", "store added", "store removed: evicted because of the limit of 1 idle store",
      ]
    )
  }

  @Test
  func `A trigger, by its description or its type, and a call`() async throws {
    let (named, unnamed) = (NamedTrigger(), UnnamedTrigger())
    for (trigger, name) in [(named, "memory pressure"), (unnamed, "UnnamedTrigger")] as [(any Firing, String)] {
      let cache = OperationClient.DefaultStoreCache(evictionTrigger: trigger)
      let client = OperationClient(storeCache: cache)
      let events = client.events
      _ = client.store(for: NumberQuery(1))
      trigger.evict.value?({ _ in true })
      _ = client.store(for: NumberQuery(1))
      cache.evictIdleStores { _ in true }
      let texts = try await next(4, of: events)
      expect(
        texts,
        equals: [
          "store added", "store removed: evicted because of \(name)", "store added",
          "store removed: evicted because of a call",
        ]
      )
    }
  }

  @Test
  func `A store that somebody held when it was evicted, and a store in its place`() async throws {
    let events = self.client.events
    var held: IntStore? = self.client.store(for: self.query.cacheTime(.seconds(10)))
    self.clock.advance(by: .seconds(10))
    expect(self.client.stores().count, equals: 1)
    withExtendedLifetime(held) {}
    held = nil
    let texts = try await next(2, of: events)
    expect(
      texts,
      equals: [
        "store added", "store removed: evicted because of its cache time of 10 s",
      ]
    )
    let first = self.client.store(for: NumberQuery(1))
    let second = OperationStore.detached(query: NumberQuery(1))
    self.client.withStores(of: NumberQuery.State.self) { stores, _ in stores.update(second) }
    let replaced = try await next(3, of: events)
    expect(replaced, equals: ["store added", "store removed: cleared by a call", "store added"])
    withExtendedLifetime(first) {}
  }

  // MARK: - Waits

  @Test
  func `A wait of a run is told by an explanation and by events`() async throws {
    let (waits, end) = (Gate(), Gate())
    let query = QueryOperation<Int, any Error>("b", operationName: "GetPost") { [clock] context in
      let wait = context.beginWait(for: { "a permit of the printer" })
      waits.open()
      try await end.wait()
      clock.advance(by: .seconds(3))
      context.endWait(wait)
      return 1
    }
    let store = self.client.store(for: query.manualTime(self.clock))
    let fetch = Task.immediate { try await store.fetch() }
    try await waits.wait()
    self.clock.advance(by: .seconds(2))
    // The first explanation knows it, too.
    expect(
      store.explain().runs.map(\.description),
      equals: [
        "A run is under way: started by a call; it has waited for 2 s for a permit of the printer."
      ]
    )
    let events = self.client.events
    end.open()
    _ = try await fetch.finished()
    let texts = try await next(2, of: events)
    expect(texts, equals: ["run 1 has waited for 5 s for a permit of the printer", "run 1 succeeded"])
    #expect(store.runtime.withMachine { $0.extras?.content.runWaits.isEmpty == true })
  }
}

/// Hands out its controls.
private struct Controlling: OperationController, Sendable {
  let controls: Box<OperationControls<IntState>?>

  func control(with controls: OperationControls<IntState>) -> OperationSubscription {
    self.controls.value = controls
    return .empty
  }
}

/// A trigger that a test fires.
private protocol Firing: OperationClient.EvictionTrigger {
  var evict: Box<(@Sendable ((OperationContext) -> Bool) -> Void)?> { get }
}

extension Firing {
  func subscribe(_ evict: @escaping @Sendable ((OperationContext) -> Bool) -> Void) -> OperationSubscription {
    self.evict.value = evict
    return .empty
  }
}

private struct UnnamedTrigger: Firing {
  let evict = Box<(@Sendable ((OperationContext) -> Bool) -> Void)?>(nil)
}

private struct NamedTrigger: Firing, CustomStringConvertible {
  let evict = Box<(@Sendable ((OperationContext) -> Bool) -> Void)?>(nil)

  var description: String { "memory pressure" }
}
