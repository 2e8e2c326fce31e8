import FoundationEssentials
import OperationCore
import OperationEvents
import OperationMutation
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct StorageLimitTests {
  private let clock = ManualClock()
  private let base = InMemoryStorage()

  /// A program after a start: with a storage object of its own, so that nothing in memory is left of the one before.
  private func start(_ limits: StorageLimits?) -> (program: Program, storage: TestStorage) {
    let storage = TestStorage(self.base)
    let program = Program(storage, clock: self.clock)
    program.client.persistence.limits = limits
    return (program, storage)
  }

  private func key(_ number: Int) -> String { "value/stext/i\(number)/=text=" }

  /// The numbers of the values that are stored, after all that is to be done.
  private func stored(_ program: Program) async throws -> [Int] {
    await program.client.persistence.flush()
    await program.client.persistence.settled()
    let keys = try await self.base.keys("value/")
    // No record without its value.
    let records = try await self.base.keys("use/").map { "value/" + $0.dropFirst(4) }
    #expect(Set(records).isSubset(of: keys))
    return try keys.map { try #require(Int($0.dropFirst("value/stext/i".count).prefix { $0 != "/" })) }
  }

  private func write(_ numbers: some Sequence<Int>, _ program: Program, _ text: String = "text") async {
    for number in numbers {
      self.clock.advance(by: .seconds(60))
      program.store(Script(), number).currentValue = text
      await program.client.persistence.flush()
    }
  }

  @Test func `Values that were not used for long are removed, also those of an earlier start`() async throws {
    let limits = StorageLimits(maximumRows: 3)
    let first = self.start(limits)
    await self.write(1...3, first.program)
    try await expect(self.stored(first.program), equals: [1, 2, 3])

    let second = self.start(limits)
    self.clock.advance(by: .seconds(60))
    expect(second.program.store(Script(), 1).currentValue, equals: "text")
    await self.write([4], second.program)
    try await expect(self.stored(second.program), equals: [1, 3, 4])

    let third = self.start(limits)
    await self.write([5], third.program)
    try await expect(self.stored(third.program), equals: [1, 4, 5])
    try await expect(third.program.client.persistence.statistics.evictions, equals: 1)
    expect(third.program.store(Script(), 3).currentValue, equals: nil)
    expect(third.program.store(Script(), 1).currentValue, equals: "text")
  }

  @Test func `What was stored without limits is removed first, and without any store`() async throws {
    let first = self.start(nil)
    await self.write(1...5, first.program)
    #expect(try await self.base.keys("use/").isEmpty)
    let second = self.start(StorageLimits(maximumRows: 4))
    try await expect(self.stored(second.program), equals: [2, 3, 4, 5])
    await self.write([1], second.program)
    try await expect(self.stored(second.program), equals: [1, 3, 4, 5])
    second.program.client.persistence.limits = StorageLimits(maximumRows: 2)
    try await expect(self.stored(second.program), equals: [1, 5])
    second.program.client.persistence.limits = nil
    await self.write(6...9, second.program)
    try await expect(self.stored(second.program), equals: [1, 5, 6, 7, 8, 9])
  }

  @Test func `The limit of bytes counts keys and values, and holds to the byte`() async throws {
    let unlimited = self.start(nil)
    await self.write(1...4, unlimited.program)
    let bytes = try await unlimited.program.client.persistence.statistics.total.bytes
    let entries = try await self.base.entries(withPrefix: "value/")
    expect(bytes, equals: entries.reduce(0) { $0 + $1.key.utf8.count + $1.value.count })
    try await expect(self.stored(self.start(StorageLimits(maximumBytes: bytes)).program), equals: [1, 2, 3, 4])
    try await expect(self.stored(self.start(StorageLimits(maximumBytes: bytes - 1)).program), equals: [2, 3, 4])
  }

  @Test func `Room is made before a write, and of a batch beyond the limits the newest values stay`() async throws {
    let (program, storage) = self.start(StorageLimits(maximumRows: 3))
    await self.write(1...3, program)
    for number in [4, 5] { program.store(Script(), number).currentValue = "text" }
    try await expect(self.stored(program), equals: [3, 4, 5])
    let batches = storage.batches.suffix(2).map { $0.map(\.key) }
    #expect(batches.first?.contains(self.key(1)) == true && batches.last?.contains(self.key(5)) == true)
    for number in [6, 7, 8, 9, 3] { program.store(Script(), number).currentValue = "new" }
    try await expect(self.stored(program), equals: [3, 8, 9])
  }

  @Test func `A value above the limit is reported and explained, and what was stored before stays`() async throws {
    let recorder = WarningRecorder()
    // From the start: a task that looks through the storage, or writes, may make the next write, too.
    let (program, store) = await recorder.recording {
      let (program, _) = self.start(StorageLimits(maximumValueBytes: 1_000))
      let store = program.store()
      store.currentValue = "small"
      #expect(await program.client.persistence.flush())
      expect(store.explain().sections.first?.facts, equals: ["text, version 1", "stored, or about to be"])
      store.currentValue = String(repeating: "x", count: 2_000)
      program.store(Script(), 2).currentValue = "other"
      #expect(await !program.client.persistence.flush())
      return (program, store)
    }
    expect(recorder.warnings.map(\.code), equals: [.valueNotStored])
    expect(recorder.warnings.first?.message.contains("[\"text\", 1]"), equals: true)
    try await expect(self.stored(program), equals: [1, 2])
    let statistics = try await program.client.persistence.statistics
    expect(statistics.rejections, equals: 1)
    expect(statistics.pendingWrites, equals: 0)
    let fact = try #require(store.explain().sections.first?.facts.last)
    #expect(fact.hasPrefix("not stored: it has 2") && fact.hasSuffix(" bytes, and the limit is 1000"), "\(fact)")
    // It is left out until it changes.
    #expect(await program.client.persistence.flush())
    expect(self.start(nil).program.store().currentValue, equals: "small")
    store.currentValue = "smaller"
    #expect(await program.client.persistence.flush())
    expect(store.explain().sections.first?.facts.last, equals: "stored, or about to be")
    expect(self.start(nil).program.store().currentValue, equals: "smaller")
  }

  @Test func `A store is told why its value is not stored any more`() async throws {
    let (program, _) = self.start(StorageLimits(maximumRows: 1))
    let store = program.store()
    store.currentValue = "first"
    await program.client.persistence.flush()
    await self.write([2], program)
    expect(store.currentValue, equals: "first")
    let fact = store.explain().sections.first?.facts.last
    expect(fact, equals: "not stored: removed, because the limit of the storage is reached and others are used")
    store.currentValue = "again"
    try await expect(self.stored(program), equals: [1])
  }

  @Test func `Reading writes nothing at once, and all uses of a minute together`() async throws {
    let limits = StorageLimits(maximumRows: 100)
    await self.write(1...9, self.start(limits).program)
    let (program, storage) = self.start(limits)
    self.clock.advance(by: .seconds(120))
    await program.client.persistence.settled()
    for number in 1...9 { expect(program.store(Script(), number).currentValue, equals: "text") }
    await program.client.persistence.settled()
    #expect(storage.batches.isEmpty)
    self.clock.advance(by: .seconds(60))
    await program.client.persistence.settled()
    expect(storage.batches.map(\.count), equals: [9])
    #expect(storage.batches[0].allSatisfy { $0.key.hasPrefix("use/") })
    // At the end of a program they are written at once; the same uses again within a minute are not.
    for _ in 0..<2 {
      for number in 1...9 { expect(self.reread(number, program), equals: "text") }
      await program.client.persistence.flush()
      expect(storage.batches.count, equals: 2)
    }
  }

  private func reread(_ number: Int, _ program: Program) -> String? {
    let query = Script().query(path: ["text", number]).stale(after: .seconds(60)).persisted(as: "text")
    return OperationStore.detached(query: query.context { $0.operationStorage = program.storage }).currentValue
  }

  @Test(arguments: [
    StorageLimits(maximumBytes: 0), StorageLimits(maximumRows: 0), StorageLimits(maximumValueBytes: 0),
  ])
  func `With a limit of zero nothing is stored`(limits: StorageLimits) async throws {
    await self.write(1...2, self.start(nil).program)
    let (program, _) = self.start(limits)
    await program.client.persistence.settled()
    await expectWarning(.valueNotStored) { await self.write([3], program) }
    try await expect(self.stored(program), equals: (limits.maximumValueBytes == nil ? [] : [1, 2]))
  }

  @Test func `Negative limits are reported and count as zero, and huge ones as none`() async throws {
    let limits = expectWarning(.invalidArgument) { StorageLimits(maximumBytes: -1, maximumRows: .min) }
    expect(limits, equals: StorageLimits(maximumBytes: 0, maximumRows: 0))
    expect(expectWarning(.invalidArgument) { StorageLimits(maximumValueBytes: -5).maximumValueBytes }, equals: 0)
    let (program, _) = self.start(
      StorageLimits(maximumBytes: .max, maximumRows: .max, maximumValueBytes: .max)
    )
    await self.write(1...3, program)
    try await expect(self.stored(program), equals: [1, 2, 3])
  }

  @Test func `A clock without a date keeps the limits`() async throws {
    self.clock.setDate(Date(timeIntervalSinceReferenceDate: .nan))
    let (program, _) = self.start(StorageLimits(maximumRows: 2))
    await self.write(1...3, program)
    try await expect(self.stored(program), equals: [2, 3])
  }

  @Test func `Calls of the journal are never removed`() async throws {
    let journal = MutationJournal(storage: self.base, resumes: .manually)
    let mutation = Send(server: Server(), script: Script()).journaled(as: "send", in: journal)
    let call = Task.immediate {
      try await OperationStore.detached(mutation: mutation).mutate(with: Note(id: 1, text: "a"))
    }
    try await journal.entries(count: 1)
    let calls = try await self.base.entries(withPrefix: "journal/")
    expect(calls.count, equals: 1)
    let (program, _) = self.start(StorageLimits(maximumBytes: 0, maximumRows: 0))
    await program.client.persistence.settled()
    await expectWarning(.valueNotStored) { await self.write([1], program) }
    try await expect(self.stored(program), equals: [])
    try await expect(self.base.entries(withPrefix: ""), equals: calls)
    call.cancel()
    _ = await call.result
  }

  @Test func `A storage that cannot be read keeps its values, and the limits hold later`() async throws {
    await self.write(1...3, self.start(nil).program)
    let storage = TestStorage(self.base)
    storage.failToRead(true)
    let program = Program(storage, clock: self.clock)
    await expectWarning(.storageFailed) {
      program.client.persistence.limits = StorageLimits(maximumRows: 2)
      await program.client.persistence.settled()
    }
    try await expect(self.base.keys("value/").count, equals: 3)
    storage.failToRead(false)
    self.clock.advance(by: .seconds(60))
    try await expect(self.stored(program), equals: [2, 3])
  }

  @Test func `Values that another process has stored count after an hour`() async throws {
    let (program, _) = self.start(StorageLimits(maximumRows: 2))
    await self.write(1...2, program)
    await self.write(7...9, self.start(nil).program)
    try await expect(self.stored(program), equals: [1, 2, 7, 8, 9])
    self.clock.advance(by: .seconds(3_600))
    try await expect(self.stored(program).count, equals: 2)
  }

  @Test func `Removing all values removes what is known of them`() async throws {
    let (program, _) = self.start(StorageLimits(maximumRows: 3))
    await self.write(1...3, program)
    try await program.client.persistence.removeAll(matching: ["text", 2])
    try await expect(self.base.keys(), equals: ["use/stext/i1/=text=", "use/stext/i3/=text="] + [1, 3].map(self.key))
    await self.write([4], program)
    try await expect(self.stored(program), equals: [1, 3, 4])
    try await program.client.persistence.removeAll()
    #expect(try await self.base.keys().isEmpty)
  }
}
