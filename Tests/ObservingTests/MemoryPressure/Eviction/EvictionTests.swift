import OperationCore
import OperationMemoryPressure
import OperationTesting
import TestFixtures
import Testing

/// The stores that a client drops when memory runs short.
@Suite(.bounded, .warningsAreIssues)
struct EvictionTests {
  private let clock = ManualClock()
  private let memory = MockMemoryPressureSource()
  private let removed = Log<OperationPath>()

  private func client() -> OperationClient {
    var context = OperationContext()
    context.use(self.clock)
    return OperationClient(
      defaultContext: context,
      storeCache: OperationClient.DefaultStoreCache(memoryPressureSource: self.memory)
    )
  }

  private func logRemovals(from client: OperationClient) -> OperationSubscription {
    client.subscribe(matching: []) { change in
      for store in change.storesRemoved { self.removed.append(store.path) }
    }
  }

  @Test(arguments: [MemoryPressure.warning, .critical])
  func `Idle stores are dropped at a raised level, and reported`(_ pressure: MemoryPressure) {
    let client = self.client()
    let removals = self.logRemovals(from: client)
    defer { removals.cancel() }
    _ = client.store(for: NumberQuery(1))
    self.memory.send(pressure: pressure)
    #expect(client.stores(matching: []).isEmpty)
    expect(self.removed.all, equals: [NumberQuery(1).path])
  }

  @Test func `Each store is dropped at the levels of its operation`() {
    let client = self.client()
    let removals = self.logRemovals(from: client)
    defer { removals.cancel() }
    _ = client.store(for: NumberQuery(1).evictWhen(pressure: .warning))
    _ = client.store(for: NumberQuery(2).evictWhen(pressure: .critical))
    _ = client.store(for: NumberQuery(3).evictWhen(pressure: []))
    _ = client.store(for: NumberQuery(4).evictWhen(pressure: .all))
    self.memory.send(pressure: .normal)
    expect(self.removed.all, equals: [NumberQuery(4).path])
    self.memory.send(pressure: .warning)
    expect(self.removed.all, equals: [NumberQuery(4).path, NumberQuery(1).path])
    self.memory.send(pressure: .critical)
    expect(self.removed.all, equals: [NumberQuery(4).path, NumberQuery(1).path, NumberQuery(2).path])
    expect(client.stores(matching: []).map(\.path), equals: [NumberQuery(3).path])
  }

  @Test func `The modifier nearer to the operation applies`() {
    let query = NumberQuery(1).evictWhen(pressure: []).evictWhen(pressure: .all)
    let store = self.client().store(for: query)
    expect(store.context.evictableMemoryPressure, equals: [])
  }

  @Test func `A store with a subscriber stays, and is dropped at the next pressure if it is idle`() {
    let client = self.client()
    let removals = self.logRemovals(from: client)
    defer { removals.cancel() }
    _ = client.store(for: NumberQuery(2))
    let subscription = client.store(for: NumberQuery(1)).subscribe(with: QueryEventHandler())
    self.memory.send(pressure: .critical)
    expect(client.stores(matching: []).map(\.path), equals: [NumberQuery(1).path])
    subscription.cancel()
    expect(client.stores(matching: []).count, equals: 1)
    self.memory.send(pressure: .critical)
    #expect(client.stores(matching: []).isEmpty)
    expect(self.removed.all, equals: [NumberQuery(2).path, NumberQuery(1).path])
  }

  @Test func `A running store stays`() async throws {
    let client = self.client()
    let script = OperationScript<Int, any Error>()
    let fetch = Task { [store = client.store(for: script.query(path: ["scripted"]))] in try await store.fetch() }
    let run = try await script.next()
    self.memory.send(pressure: .critical)
    expect(client.stores(matching: []).count, equals: 1)
    run.succeed(1)
    _ = try await fetch.value
  }

  @Test func `A store that is referenced stays at its path, and keeps its value`() {
    let client = self.client()
    let removals = self.logRemovals(from: client)
    defer { removals.cancel() }
    let held = client.store(for: NumberQuery(1))
    held.currentValue = 7
    self.memory.send(pressure: .critical)
    #expect(client.store(for: NumberQuery(1)) === held)
    expect(client.store(for: NumberQuery(1)).currentValue, equals: 7)
    #expect(self.removed.all.isEmpty)
  }

  @Test func `A cache that subscribes while memory is short drops stores at once`() {
    self.memory.send(pressure: .critical)
    let client = self.client()
    _ = client.store(for: NumberQuery(1).evictWhen(pressure: .warning))
    _ = client.store(for: NumberQuery(2))
    _ = client.store(for: NumberQuery(3))
    // The first idle store makes the cache subscribe, and stays at the current level.
    expect(Set(client.stores(matching: []).map(\.path)), equals: Set([1, 2, 3].map { NumberQuery($0).path }))
    self.memory.send(pressure: .critical)
    expect(client.stores(matching: []).map(\.path), equals: [NumberQuery(1).path])
    let other = self.client()
    _ = other.store(for: NumberQuery(1))
    #expect(other.stores(matching: []).isEmpty)
  }

  @Test func `An initial normal level drops no store`() {
    let client = self.client()
    _ = client.store(for: NumberQuery(1).evictWhen(pressure: .all))
    expect(client.stores(matching: []).count, equals: 1)
  }

  @Test func `The cache subscribes while there are idle stores, until the client is released`() {
    var client: OperationClient? = self.client()
    expect(self.memory.subscriberCount, equals: 0)
    _ = client?.store(for: NumberQuery(1))
    _ = client?.store(for: NumberQuery(2))
    expect(self.memory.subscriberCount, equals: 1)
    self.clock.advance(by: .seconds(300))
    expect(self.memory.subscriberCount, equals: 0)
    _ = client?.store(for: NumberQuery(1))
    expect(self.memory.subscriberCount, equals: 1)
    client = nil
    expect(self.memory.subscriberCount, equals: 0)
  }
}
