import OperationCore
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// What a process does in the moments around a removal of all values that another process makes.
@Suite(.bounded, .warningsAreIssues) struct EraGapTests {
  private let clock = ManualClock()
  private let base = InMemoryStorage()
  private let (first, second): (Program, Program)
  private let (firstStorage, secondStorage): (SharedStorage, SharedStorage)

  init() {
    (self.firstStorage, self.secondStorage) = (SharedStorage(self.base), SharedStorage(self.base))
    self.first = Program(self.firstStorage, clock: self.clock)
    self.second = Program(self.secondStorage, clock: self.clock)
  }

  @Test func `A store that is made when the process hears of the removal does not show what was being written`()
    async throws
  {
    let other = Program(self.secondStorage, clock: self.clock)
    #expect(other.store(Script(), 2).currentValue == nil)
    self.second.store().currentValue = "secret"
    #expect(await self.second.client.persistence.flush())
    try await self.first.client.clearEverything()
    self.second.store().currentValue = "secret, later"
    let shown = Log<String?>()
    let subscription = self.second.client.onNotice { [client = other.client] notice in
      guard notice.name == .storageCleared else { return }
      let query = Script().query(path: ["text", 1]).stale(after: .seconds(60)).persisted(as: "text", version: 1)
      shown.append(client.store(for: query).currentValue)
    }
    #expect(await !self.second.client.persistence.flush())
    expect(shown.all, equals: [nil])
    subscription.cancel()
  }

  @Test func `A record that a sweep writes while another process removes the value is not left`() async throws {
    func store(_ program: Program) -> TextStore {
      let query = Script().query(path: ["alice"]).persisted(as: "text", maximumAge: .seconds(600))
      return program.client.store(for: query)
    }
    self.first.client.store(for: Script().query(path: ["alice"]).persisted(as: "text")).currentValue = "secret"
    #expect(await self.first.client.persistence.flush())
    await self.first.client.persistence.settled()
    // It has no record, and gets one.
    let sweep = self.secondStorage.holdNextReading(of: "value/salice")
    _ = store(self.second)
    try await sweep.arrivals(count: 1)
    // The other process has listed what it removes.
    let removal = self.firstStorage.holdNextReading(of: "use/")
    let clearing = Task.immediate { try await self.first.client.clearEverything() }
    try await removal.arrivals(count: 1)
    sweep.open()
    await self.second.client.persistence.settled()
    removal.open()
    try await clearing.value
    try await expect(self.base.keys(), equals: [])
  }

  @Test func `A removal fails that cannot read which era another process has begun`() async throws {
    self.first.store().currentValue = "secret"
    #expect(await self.first.client.persistence.flush())
    var gate = self.firstStorage.holdNextReading(of: "value/", begun: false)
    let clearing = Task.immediate { try await self.first.client.clearEverything() }
    try await gate.arrivals(count: 1)
    try await self.second.client.clearEverything()
    // What is to be removed, and whether that is still to be done.
    for _ in 0..<2 {
      let next = self.firstStorage.holdNextReading(of: "epoch/")
      gate.open()
      try await next.arrivals(count: 1)
      gate = next
    }
    self.firstStorage.failNextReading()
    gate.open()
    await #expect(throws: ClearingError.self) { try await clearing.value }
    try await self.first.client.clearEverything()
    self.first.store().currentValue = "of the next user"
    #expect(await self.first.client.persistence.flush())
    try await expect(self.base.keys("value/").count, equals: 1)
  }

  @Test func `A process that has not heard of the removal makes no room at the cost of the next user`() async throws {
    self.second.client.persistence.limits = StorageLimits(maximumRows: 1)
    self.second.store().currentValue = "secret"
    #expect(await self.second.client.persistence.flush())
    try await self.first.client.clearEverything()
    self.first.store().currentValue = "of the next user"
    #expect(await self.first.client.persistence.flush())
    self.second.store(Script(), 2).currentValue = "secret, later"
    #expect(await !self.second.client.persistence.flush())
    try await expect(self.base.keys("value/").count, equals: 1)
  }
}
