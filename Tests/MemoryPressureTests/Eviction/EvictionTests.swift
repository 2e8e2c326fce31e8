import OperationCore
import OperationMemoryPressure
import OperationTesting
import TestFixtures
import Testing

/// What a client drops when memory runs short.
@Suite(.timeLimit(.minutes(10)), .warningsAreIssues)
struct EvictionTests {
  private let clock = ManualClock()
  private let memory = MockMemoryPressureSource()
  private let gone = Log<OperationPath>()

  private func client() -> OperationClient {
    var context = OperationContext()
    context.use(self.clock)
    return OperationClient(
      defaultContext: context,
      storeCache: OperationClient.DefaultStoreCache(memoryPressureSource: self.memory)
    )
  }

  private func announce(_ client: OperationClient) -> OperationSubscription {
    client.subscribe(matching: []) { change in
      for store in change.storesRemoved { self.gone.append(store.path) }
    }
  }

  @Test(arguments: [MemoryPressure.warning, .critical])
  func `Idle stores go at a raised level, and are announced`(_ pressure: MemoryPressure) {
    let client = self.client()
    let announcements = self.announce(client)
    defer { announcements.cancel() }
    _ = client.store(for: NumberQuery(1))
    self.memory.send(pressure: pressure)
    #expect(client.stores(matching: []).isEmpty)
    #expect(self.gone.all == [NumberQuery(1).path])
  }

  @Test func `Each store goes at the levels that its operation names`() {
    let client = self.client()
    let announcements = self.announce(client)
    defer { announcements.cancel() }
    _ = client.store(for: NumberQuery(1).evictWhen(pressure: .warning))
    _ = client.store(for: NumberQuery(2).evictWhen(pressure: .critical))
    _ = client.store(for: NumberQuery(3).evictWhen(pressure: []))
    _ = client.store(for: NumberQuery(4).evictWhen(pressure: .all))
    self.memory.send(pressure: .normal)
    #expect(self.gone.all == [NumberQuery(4).path])
    self.memory.send(pressure: .warning)
    #expect(self.gone.all == [NumberQuery(4).path, NumberQuery(1).path])
    self.memory.send(pressure: .critical)
    #expect(self.gone.all == [NumberQuery(4).path, NumberQuery(1).path, NumberQuery(2).path])
    #expect(client.stores(matching: []).map(\.path) == [NumberQuery(3).path])
  }

  @Test func `The modifier nearer to the operation wins`() {
    let query = NumberQuery(1).evictWhen(pressure: []).evictWhen(pressure: .all)
    let store = self.client().store(for: query)
    #expect(store.context.evictableMemoryPressure == [])
  }

  @Test func `A store with a subscriber stays, and goes at the next pressure when it is idle`() {
    let client = self.client()
    let announcements = self.announce(client)
    defer { announcements.cancel() }
    _ = client.store(for: NumberQuery(2))
    let subscription = client.store(for: NumberQuery(1)).subscribe(with: QueryEventHandler())
    self.memory.send(pressure: .critical)
    #expect(client.stores(matching: []).map(\.path) == [NumberQuery(1).path])
    subscription.cancel()
    #expect(client.stores(matching: []).count == 1)
    self.memory.send(pressure: .critical)
    #expect(client.stores(matching: []).isEmpty)
    #expect(self.gone.all == [NumberQuery(2).path, NumberQuery(1).path])
  }

  @Test func `A store that runs stays`() async throws {
    let client = self.client()
    let script = OperationScript<Int, any Error>()
    let fetch = Task { [store = client.store(for: script.query(path: ["scripted"]))] in try await store.fetch() }
    let run = try await script.next()
    self.memory.send(pressure: .critical)
    #expect(client.stores(matching: []).count == 1)
    run.succeed(1)
    _ = try await fetch.value
  }

  @Test func `A store that is referenced stays the one found at its path, and keeps its value`() {
    let client = self.client()
    let announcements = self.announce(client)
    defer { announcements.cancel() }
    let held = client.store(for: NumberQuery(1))
    held.currentValue = 7
    self.memory.send(pressure: .critical)
    #expect(client.store(for: NumberQuery(1)) === held)
    #expect(client.store(for: NumberQuery(1)).currentValue == 7)
    #expect(self.gone.all.isEmpty)
  }

  @Test func `A cache that begins to observe while memory is short acts at once`() {
    self.memory.send(pressure: .critical)
    let client = self.client()
    _ = client.store(for: NumberQuery(1).evictWhen(pressure: .warning))
    _ = client.store(for: NumberQuery(2))
    _ = client.store(for: NumberQuery(3))
    // The first idle store makes it listen, and has another level.
    #expect(Set(client.stores(matching: []).map(\.path)) == Set([1, 2, 3].map { NumberQuery($0).path }))
    self.memory.send(pressure: .critical)
    #expect(client.stores(matching: []).map(\.path) == [NumberQuery(1).path])
    let other = self.client()
    _ = other.store(for: NumberQuery(1))
    #expect(other.stores(matching: []).isEmpty)
  }

  @Test func `That memory is not short is no event`() {
    let client = self.client()
    _ = client.store(for: NumberQuery(1).evictWhen(pressure: .all))
    #expect(client.stores(matching: []).count == 1)
  }

  @Test func `The source is observed while there are idle stores, and no longer than the client lives`() {
    var client: OperationClient? = self.client()
    #expect(self.memory.subscriberCount == 0)
    _ = client?.store(for: NumberQuery(1))
    _ = client?.store(for: NumberQuery(2))
    #expect(self.memory.subscriberCount == 1)
    self.clock.advance(by: .seconds(300))
    #expect(self.memory.subscriberCount == 0)
    _ = client?.store(for: NumberQuery(1))
    #expect(self.memory.subscriberCount == 1)
    client = nil
    #expect(self.memory.subscriberCount == 0)
  }
}
