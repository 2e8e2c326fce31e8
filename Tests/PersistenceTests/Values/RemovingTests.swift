import OperationCore
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct RemovingTests {
  private let clock = ManualClock()

  /// A storage with the texts 0 to 4, and a text of another path.
  private func filled() async throws -> InMemoryStorage {
    let storage = InMemoryStorage()
    let program = Program(storage, clock: self.clock)
    for number in 0..<5 { program.store(Script(), number).currentValue = "secret \(number)" }
    program.client.store(for: Script().query(path: ["other"]).persisted(as: "text")).currentValue = "kept"
    #expect(await program.client.persistence.flush())
    return storage
  }

  private let otherKey = "value/sother/=text="

  @Test func `Stored and restored values are removed, also without a store`() async throws {
    let storage = try await self.filled()
    let program = Program(storage, clock: self.clock)
    await expect(program.client.restore(), equals: 6)
    try await program.client.persistence.removeAll(matching: ["text"])
    try await expect(storage.keys(), equals: [self.otherKey])
    for number in 0..<5 { expect(program.store(Script(), number).currentValue, equals: nil) }
    expect(
      program.client.store(for: Script().query(path: ["other"]).persisted(as: "text")).currentValue,
      equals: "kept"
    )
    try await program.client.persistence.removeAll()
    #expect(try await storage.keys().isEmpty)
  }

  @Test func `Values are removed before anything was read`() async throws {
    let storage = try await self.filled()
    let program = Program(storage, clock: self.clock)
    try await program.client.persistence.removeAll(matching: ["text", 1])
    try await expect(storage.keys("value/stext/").count, equals: 4)
    let client = OperationClient()
    try await expectWarning(.noStorage) { try await client.persistence.removeAll() }
    try await client.persistence.removeAll(from: storage)
    #expect(try await storage.keys().isEmpty)
  }

  @Test(arguments: [0, 1, 2, 3])
  func `Nothing is left after signing out, in any order`(order: Int) async throws {
    let storage = try await self.filled()
    let program = Program(storage, clock: self.clock)
    await expect(program.client.restore(), equals: 6)
    let live = program.store(Script(), 0)
    program.store(Script(), 1).currentValue = "secret, not written yet"
    func clear() {
      if order % 2 == 0 { program.client.clearStores() } else { program.client.resetStores() }
    }
    if order < 2 { clear() }
    try await program.client.persistence.removeAll()
    if order >= 2 {
      // The value in memory is not stored again.
      program.client.invalidate()
      clear()
    }
    if order % 2 == 1 { expect(live.currentValue, equals: nil) }
    #expect(await program.client.persistence.flush())
    #expect(try await storage.keys().isEmpty)
    for number in 1..<5 { expect(program.store(Script(), number).currentValue, equals: nil) }
    await expect(program.restarted().client.restore(), equals: 0)
    live.currentValue = "new"
    #expect(await program.client.persistence.flush())
    // A removed store writes nothing.
    expect(program.restarted().store(Script(), 0).currentValue, equals: (order % 2 == 0 ? nil : "new"))
  }

  @Test func `A removed store writes what it had, and nothing after that`() async throws {
    let storage = InMemoryStorage()
    let program = Program(storage, clock: self.clock)
    let (script, store) = (Script(), program.store())
    let polled = program.client.store(
      for: script.query(path: ["polled"]).rerun(every: .seconds(1)).persisted(as: "text")
    )
    let subscription = polled.subscribe(with: TextRecorder().handler)
    defer { subscription.cancel() }
    try await script.next().succeed("secret")
    await polled.settled()
    store.currentValue = "written later"
    program.client.clearStores()
    #expect(await program.client.persistence.flush())
    try await expect(storage.keys("value/").count, equals: 2)

    try await program.client.persistence.removeAll()
    store.currentValue = "secret"
    store.resetState()
    polled.currentValue = "secret"
    self.clock.advance(by: .seconds(10))
    expect(script.runCount, equals: 1)
    program.client.invalidate()
    #expect(await program.client.persistence.flush())
    #expect(try await storage.keys().isEmpty)
    expect(program.store().currentValue, equals: nil)
    program.store().currentValue = "of the next one"
    #expect(await program.client.persistence.flush())
    expect(program.restarted().store().currentValue, equals: "of the next one")
  }

  @Test func `A store that is removed while it is restored shows nothing more, and runs nothing`() async throws {
    let base = try await self.filled()
    let storage = TestStorage(base, reads: false)
    let program = Program(storage, clock: self.clock)
    let script = Script()
    let store = program.store(script, 1)
    let recorder = TextRecorder()
    let subscription = store.subscribe(with: recorder.handler)
    defer { subscription.cancel() }
    try await storage.reading.arrivals(count: 1)
    program.client.clearStores()
    expect(self.clock.sleeperCount(), equals: 0)
    storage.reading.open()
    #expect(await program.client.persistence.flush())
    try await expect(storage.entries(withPrefix: "value/").count, equals: 6)
    expect(recorder.digests, equals: [.state(nil)])
    expect(store.currentValue, equals: nil)
    expect(script.runCount, equals: 0)
  }

  @Test(arguments: [false, true])
  func `A wiped storage leaves nothing that was read ahead`(resets: Bool) async throws {
    let storage = try await self.filled()
    let program = Program(storage, clock: self.clock)
    await expect(program.client.restore(), equals: 6)
    try await storage.apply(storage.keys().map { .remove(key: $0) })
    if resets { program.client.resetStores(matching: ["text"]) } else { program.client.clearStores(matching: ["text"]) }
    for number in 0..<5 { expect(program.store(Script(), number).currentValue, equals: nil) }
    expect(
      program.client.store(for: Script().query(path: ["other"]).persisted(as: "text")).currentValue,
      equals: "kept"
    )
  }

  @Test func `Clearing a path discards what was read ahead for it, and not below it`() async throws {
    let program = Program(clock: self.clock)
    func store(_ path: OperationPath, _ client: OperationClient) -> TextStore {
      client.store(for: Script().query(path: path).persisted(as: "text"))
    }
    store(["a"], program.client).currentValue = "above"
    store(["a", 1], program.client).currentValue = "below"
    #expect(await program.client.persistence.flush())
    let storage = TestStorage(try #require(program.storage as? InMemoryStorage), reads: true)
    let client = Program(storage, clock: self.clock).client
    await expect(client.restore(), equals: 2)
    client.clearStore(with: ["a"])
    expect(store(["a", 1], client).currentValue, equals: "below")
    expect(storage.readCount, equals: 1)
    expect(store(["a"], client).currentValue, equals: "above")
    expect(storage.readCount, equals: 2)
  }

  @Test func `A value that is being written does not come back`() async throws {
    let storage = TestStorage(writes: false)
    let program = Program(storage, clock: self.clock)
    program.store(Script(), 1).currentValue = "secret"
    let flush = Task.immediate { await program.client.persistence.flush() }
    try await storage.writing.arrivals(count: 1)
    program.store(Script(), 2).currentValue = "secret"
    let removal = Task.immediate { try await program.client.persistence.removeAll(matching: ["text"]) }
    program.client.clearStores()
    // While the removal waits for its turn, the value is gone for new stores.
    expect(program.store(Script(), 1).currentValue, equals: nil)
    storage.writing.open()
    try await removal.value
    _ = await flush.value
    #expect(await program.client.persistence.flush())
    #expect(try await storage.base.keys().isEmpty)
  }

  @Test func `A value whose write fails does not come back, and no flush waits for it`() async throws {
    let storage = TestStorage(writes: false)
    let program = Program(storage, clock: self.clock)
    program.store(Script(), 1).currentValue = "secret"
    try await expectWarning(.storageFailed) {
      storage.failToWrite(true)
      let flush = Task { await program.client.persistence.flush() }
      try await storage.writing.arrivals(count: 1)
      let removal = Task.immediate { try await program.client.persistence.removeAll() }
      storage.writing.open()
      #expect(await !flush.value)
      try await removal.value
    }
    storage.failToWrite(false)
    #expect(await program.client.persistence.flush())
    #expect(try await storage.base.keys().isEmpty)
    try await self.clock.noSleepers(.deadline, afterAdvancing: .seconds(1))
  }

  @Test(arguments: [false, true])
  func `A store that is being restored does not show a removed value`(setsValue: Bool) async throws {
    let storage = TestStorage(try await self.filled(), reads: false)
    let program = Program(storage, clock: self.clock)
    let store = program.store(Script(), 1)
    if setsValue { store.currentValue = "set before" }
    let removal = Task.immediate { try await program.client.persistence.removeAll(matching: ["text"]) }
    let later = program.store(Script(), 2)
    store.context.operationClient?.invalidate()
    storage.reading.open()
    try await removal.value
    try await self.clock.noSleepers(.deadline, afterAdvancing: .milliseconds(200))
    expect(store.currentValue, equals: (setsValue ? "set before" : nil))
    expect(later.currentValue, equals: nil)
    #expect(await program.client.persistence.flush())
    try await expect(storage.base.keys("value/"), equals: [self.otherKey])
  }

  @Test func `Values that a restore is reading are not found afterwards`() async throws {
    let base = try await self.filled()
    let storage = SlowReadStorage(base)
    let program = Program(storage, clock: self.clock)
    let restore = Task.immediate { await program.client.restore() }
    try await storage.haveRead.arrivals(count: 1)
    let removal = Task.immediate { try await program.client.persistence.removeAll(matching: ["text"]) }
    storage.haveRead.open()
    _ = await restore.value
    try await removal.value
    try await expect(base.keys(), equals: [self.otherKey])
    for number in 0..<5 { expect(program.store(Script(), number).currentValue, equals: nil) }
  }

  @Test func `A value taken back by a cancelled run does not come back`() async throws {
    let storage = try await self.filled()
    let program = Program(storage, clock: self.clock)
    let script = Script()
    let store = program.store(script, 1)
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await script.next()
    run.yield("half")
    try await program.client.persistence.removeAll()
    fetch.cancel()
    _ = try? await fetch.value
    expect(store.currentValue, equals: "secret 1")
    #expect(await program.client.persistence.flush())
    #expect(try await storage.keys().isEmpty)
    store.currentValue = "new"
    store.currentValue = "newer"
    #expect(await program.client.persistence.flush())
    expect(program.restarted().store(Script(), 1).currentValue, equals: "newer")
  }

  @Test(arguments: [false, true])
  func `A value that is set together with a reset after the removal is stored`(isRestoring: Bool) async throws {
    let storage = TestStorage(try await self.filled(), reads: !isRestoring)
    let program = Program(storage, clock: self.clock)
    let store = program.store(Script(), 1)
    store.currentValue = "secret"
    let removal = Task.immediate { try await program.client.persistence.removeAll() }
    if !isRestoring { try await removal.value }
    store.withExclusiveAccess { store in
      store.resetState()
      store.currentValue = "new"
    }
    storage.reading.open()
    try await removal.value
    try await self.clock.noSleepers(.deadline, afterAdvancing: .milliseconds(200))
    #expect(await program.client.persistence.flush())
    expect(store.currentValue, equals: "new")
    expect(program.restarted().store(Script(), 1).currentValue, equals: "new")
  }

  @Test func `A storage that fails throws, and removing again succeeds`() async throws {
    let storage = TestStorage(try await self.filled())
    let program = Program(storage, clock: self.clock)
    await expect(program.client.restore(), equals: 6)
    storage.failToWrite(true)
    await #expect(throws: Broken.self) { try await program.client.persistence.removeAll() }
    storage.failToWrite(false)
    try await program.client.persistence.removeAll()
    #expect(try await storage.base.keys().isEmpty)
    expect(program.store(Script(), 1).currentValue, equals: nil)
  }

  @Test func `A cancelled removal ends its wait, and goes on`() async throws {
    let storage = TestStorage(try await self.filled(), writes: false)
    let program = Program(storage, clock: self.clock)
    let removal = Task.immediate { try await program.client.persistence.removeAll() }
    try await storage.writing.arrivals(count: 1)
    removal.cancel()
    await #expect(throws: CancellationError.self) { try await removal.value }
    storage.writing.open()
    try await program.client.persistence.removeAll()
    #expect(try await storage.base.keys().isEmpty)
  }

  @Test func `Thousands of values are removed in a few batches`() async throws {
    let storage = TestStorage()
    let program = Program(storage, clock: self.clock)
    let changes = (0..<8_200).map { StorageChange.put(key: "value/stext/i\($0)/=text=", value: [1]) }
    try await storage.base.apply(changes)
    await expect(program.client.restore(), equals: 8_200)
    try await program.client.persistence.removeAll()
    expect(storage.batches.count, equals: 3)
    #expect(try await storage.base.keys().isEmpty)
  }

  @Test func `Removing while many tasks write leaves what was written last`() async throws {
    let program = Program(clock: self.clock)
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<4 {
        group.addTask {
          for step in 0..<50 {
            program.store(Script(), number).currentValue = "\(step)"
            if step % 5 == 0 { try? await program.client.persistence.removeAll(matching: ["text", number]) }
            if step % 7 == 0 { program.client.clearStores(matching: ["text", number]) }
          }
        }
      }
    }
    #expect(await program.client.persistence.flush())
    for number in 0..<4 { expect(program.restarted().store(Script(), number).currentValue, equals: "49") }
    try await program.client.persistence.removeAll()
    #expect(try await program.storage.keys().isEmpty)
  }
}

/// Answers a read with what it had when the read began, once its gate is open.
private final class SlowReadStorage: PersistentStorage {
  let base: InMemoryStorage
  let haveRead = Gate()

  init(_ base: InMemoryStorage) {
    self.base = base
  }

  nonisolated(nonsending) func entries(withPrefix prefix: String) async throws -> [StorageEntry] {
    let entries = try await self.base.entries(withPrefix: prefix)
    try await self.haveRead.wait()
    return entries
  }

  nonisolated(nonsending) func apply(_ batch: [StorageChange]) async throws { try await self.base.apply(batch) }
  nonisolated(nonsending) func close() async {}
}
