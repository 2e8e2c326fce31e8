import FoundationEssentials
import OperationCore
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct StorageExpiryTests {
  private let clock = ManualClock()
  private let base = InMemoryStorage()

  private func start() -> (program: Program, storage: TestStorage) {
    let storage = TestStorage(self.base)
    return (Program(storage, clock: self.clock), storage)
  }

  private func store(_ number: Int, age: Duration?, _ program: Program) -> TextStore {
    program.client.store(for: Script().query(path: ["text", number]).persisted(as: "text", maximumAge: age))
  }

  /// Stores values, and ends the program.
  private func write(_ numbers: some Sequence<Int>, age: Duration?) async {
    let (program, _) = self.start()
    for number in numbers { self.store(number, age: age, program).currentValue = "text" }
    await program.client.persistence.flush()
    await program.client.persistence.settled()
  }

  private func stored() async throws -> [Int] {
    let keys = try await self.base.keys("value/")
    return try keys.map { try #require(Int($0.dropFirst("value/stext/i".count).prefix { $0 != "/" })) }
  }

  @Test func `Values that are too old go when the storage is opened, without stores for them`() async throws {
    await self.write([1, 2], age: .seconds(600))
    self.clock.advance(by: .seconds(300))
    await self.write([3], age: .seconds(600))
    await self.write([4], age: nil)
    let (program, _) = self.start()
    self.clock.advance(by: .seconds(300))
    await program.client.restore()
    await program.client.persistence.settled()
    try await expect(self.stored(), equals: [1, 2, 3, 4])
    self.clock.advance(by: .seconds(1))
    let (later, _) = self.start()
    await later.client.restore()
    await later.client.persistence.settled()
    try await expect(self.stored(), equals: [3, 4])
    try await expect(self.base.keys("use/"), equals: ["use/stext/i3/=text="])
    try await expect(later.client.persistence.statistics.expirations, equals: 2)
    // They were read ahead before.
    expect(self.store(1, age: .seconds(600), later).currentValue, equals: nil)
    expect(self.store(3, age: .seconds(600), later).currentValue, equals: "text")
  }

  @Test func `A store with a maximum age is reason enough to look, and so is the next hour`() async throws {
    await self.write([1], age: .seconds(600))
    await self.write([2], age: .seconds(5_000))
    self.clock.advance(by: .seconds(601))
    let (program, _) = self.start()
    let store = self.store(9, age: .seconds(60), program)
    await program.client.persistence.settled()
    try await expect(self.stored(), equals: [2])
    self.clock.advance(by: .seconds(3_599))
    await program.client.persistence.settled()
    try await expect(self.stored(), equals: [2])
    for _ in 0..<2 {
      self.clock.advance(by: .seconds(3_600))
      await program.client.persistence.settled()
    }
    try await expect(self.stored(), equals: [])
    expect(store.currentValue, equals: nil)
  }

  @Test func `Of values without a record, the age counts from when they are found`() async throws {
    await self.write([1, 2], age: nil)
    #expect(try await self.base.keys("use/").isEmpty)
    let (program, _) = self.start()
    _ = self.store(9, age: .seconds(600), program)
    await program.client.persistence.settled()
    try await expect(self.base.keys("use/").count, equals: 2)
    self.clock.advance(by: .seconds(600))
    let second = self.start()
    await second.program.client.restore()
    await second.program.client.persistence.settled()
    try await expect(self.stored(), equals: [1, 2])
    self.clock.advance(by: .seconds(1))
    let third = self.start()
    await third.program.client.restore()
    await third.program.client.persistence.settled()
    try await expect(self.stored(), equals: [])
  }

  @Test func `A value that an older library has written after the record is not removed`() async throws {
    await self.write([1, 2], age: .seconds(600))
    let entries = try await self.base.entries(withPrefix: "value/")
    self.clock.advance(by: .seconds(601))
    try await self.base.apply([.put(key: entries[0].key, value: entries[0].value + [32])])
    let (program, _) = self.start()
    await program.client.restore()
    await program.client.persistence.settled()
    try await expect(self.stored(), equals: [1])
    self.clock.advance(by: .seconds(601))
    let (later, _) = self.start()
    await later.client.restore()
    await later.client.persistence.settled()
    try await expect(self.stored(), equals: [])
    #expect(try await self.base.keys().isEmpty)
  }

  @Test func `Records without values are removed, and those of another form are left`() async throws {
    await self.write([1], age: .seconds(600))
    let foreign = StorageEntry(key: "use/stext/i1/=text=", value: Array("use2 something else".utf8))
    try await self.base.apply([
      .put(key: "use/stext/i7/=text=", value: Array("use1 0 0 1 1".utf8)),
      .put(key: foreign.key, value: foreign.value),
    ])
    self.clock.advance(by: .seconds(700))
    let (program, _) = self.start()
    await program.client.restore()
    await program.client.persistence.settled()
    try await expect(self.base.entries(withPrefix: "use/"), equals: [foreign])
    try await expect(self.stored(), equals: [1])
  }

  @Test func `A clock that was set back removes nothing, and none that shows no date`() async throws {
    await self.write([1], age: .seconds(600))
    for date in [-1e9, .nan, .infinity] {
      self.clock.setDate(Date(timeIntervalSinceReferenceDate: date))
      let (program, _) = self.start()
      await program.client.restore()
      await program.client.persistence.settled()
      try await expect(self.stored(), equals: [1])
    }
  }

  @Test func `A negative age is reported and counts as zero, and a huge one as none`() async throws {
    await expectWarning(.invalidArgument) { await self.write([1], age: .seconds(-5)) }
    await self.write([2], age: .zero)
    await self.write([3], age: .seconds(Int64.max))
    self.clock.advance(by: .seconds(1))
    self.clock.setDate(Date(timeIntervalSinceReferenceDate: 1e10))
    let (program, _) = self.start()
    await program.client.restore()
    await program.client.persistence.settled()
    try await expect(self.stored(), equals: [3])
  }

  @Test func `Many old values are removed in small steps, and what is written meanwhile is not delayed`() async throws {
    await self.write(0..<1_000, age: .seconds(600))
    self.clock.advance(by: .seconds(601))
    let writing = TestStorage(self.base, writes: false)
    let blocked = Program(writing, clock: self.clock)
    await blocked.client.restore()
    try await writing.writing.arrivals(count: 1)
    blocked.store(Script(), 2_000).currentValue = "new"
    let flush = Task.immediate { await blocked.client.persistence.flush() }
    writing.writing.open()
    #expect(await flush.value)
    let place = try #require(writing.batches.firstIndex { $0.contains { $0.key == "value/stext/i2000/=text=" } })
    #expect(place <= 1)
    await blocked.client.persistence.settled()
    try await expect(self.stored(), equals: [2_000])
    #expect(writing.batches.allSatisfy { $0.count <= 128 })
    #expect(writing.batches.count > 10)
  }

  @Test func `A value that changes while old ones are removed stays`() async throws {
    await self.write([1], age: .seconds(600))
    self.clock.advance(by: .seconds(601))
    let storage = TestStorage(self.base, reads: false)
    let program = Program(storage, clock: self.clock)
    _ = self.store(9, age: .seconds(600), program)
    let store = self.store(1, age: nil, program)
    store.currentValue = "newer"
    storage.reading.open()
    await store.settled()
    #expect(await program.client.persistence.flush())
    await program.client.persistence.settled()
    try await expect(self.stored(), equals: [1])
    expect(self.store(1, age: nil, self.start().program).currentValue, equals: "newer")
  }

  @Test func `A storage that was closed meanwhile is no failure`() async throws {
    await self.write([1], age: .seconds(600))
    self.clock.advance(by: .seconds(601))
    let storage = TestStorage(self.base)
    let program = Program(storage, clock: self.clock)
    await program.client.restore()
    await program.client.persistence.settled()
    await storage.close()
    self.clock.advance(by: .seconds(3_600))
    await program.client.persistence.settled()
  }
}
