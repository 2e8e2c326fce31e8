import OperationCore
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct SlowStorageTests {
  private static func stored(_ text: String, clock: ManualClock) async -> InMemoryStorage {
    let storage = InMemoryStorage()
    let program = Program(storage, clock: clock)
    program.store().currentValue = text
    await program.client.persistence.flush()
    return storage
  }

  private let clock = ManualClock()

  @Test func `Automatic runs wait for the value, and a fresh one needs none`() async throws {
    let storage = TestStorage(await Self.stored("stored", clock: self.clock), reads: false)
    let program = Program(storage, clock: self.clock)
    let script = Script()
    let store = program.store(script)
    expect(program.client.onlyStatus, equals: .restoring)
    #expect(!store.isAutomaticRunningEnabled)
    let recorder = TextRecorder()
    let subscription = store.subscribe(with: recorder.handler)
    expect(script.runCount, equals: 0)
    let isReady = Gate()
    // Called once at first, before the value is there.
    let readiness = store.context.automaticRunningSpecification.subscribe(in: store.context) {
      if store.isAutomaticRunningEnabled { isReady.open() }
    }
    storage.reading.open()
    _ = try await recorder.firstState { $0.currentValue == "stored" }
    try await isReady.wait()
    try await program.clock.noSleepers()
    expect(program.client.onlyStatus, equals: .success)
    #expect(store.isAutomaticRunningEnabled)
    expect(recorder.digests, equals: [.state(nil), .state("stored")])
    expect(script.runCount, equals: 0)
    readiness.cancel()
    subscription.cancel()
  }

  @Test func `A subscriber's run begins when nothing was stored`() async throws {
    let storage = TestStorage(reads: false)
    let program = Program(storage, clock: self.clock)
    let recorder = TextRecorder()
    let store = program.store(Script(default: .value("fetched")))
    let subscription = store.subscribe(with: recorder.handler)
    storage.reading.open()
    _ = try await recorder.firstState { $0.currentValue == "fetched" }
    subscription.cancel()
  }

  @Test func `Automatic runs do not wait longer than the limit`() async throws {
    let storage = TestStorage(await Self.stored("stored", clock: self.clock), reads: false)
    let program = Program(storage, clock: self.clock)
    let script = Script()
    let recorder = TextRecorder()
    let store = program.store(script)
    let subscription = store.subscribe(with: recorder.handler)
    self.clock.advance(by: .milliseconds(999))
    expect(script.runCount, equals: 0)
    self.clock.advance(by: .milliseconds(1))
    let run = try await script.next()
    storage.reading.open()
    // It is still shown, as there is no newer value.
    _ = try await recorder.firstState { $0.currentValue == "stored" && $0.isLoading }
    run.succeed("fetched")
    _ = try await recorder.firstState { $0.currentValue == "fetched" }
    expect(store.valueUpdateCount, equals: 2)
    subscription.cancel()
  }

  @Test func `A newer value stays, and is what is stored`() async throws {
    let storage = TestStorage(await Self.stored("stored", clock: self.clock), reads: false)
    let program = Program(storage, clock: self.clock)
    let store = program.store(Script(default: .value("fetched")))
    try await store.fetch()
    storage.reading.open()
    try await self.clock.noSleepers(.deadline, afterAdvancing: .milliseconds(100))
    await program.client.persistence.flush()
    expect(store.currentValue, equals: "fetched")
    expect(store.valueUpdateCount, equals: 1)
    expect(program.restarted().store().currentValue, equals: "fetched")
  }

  @Test func `A run that was cancelled leaves the stored value`() async throws {
    let storage = TestStorage(await Self.stored("stored", clock: self.clock), reads: false)
    let program = Program(storage, clock: self.clock)
    let script = Script()
    let store = program.store(script)
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await script.next()
    run.yield("half")
    storage.reading.open()
    try await self.clock.noSleepers(.deadline, afterAdvancing: .milliseconds(100))
    fetch.cancel()
    _ = try? await fetch.value
    expect(store.currentValue, equals: "stored")
    expect(store.valueUpdateCount, equals: 1)
  }

  @Test func `A value that was set before the stored one was read is stored, even if the store is gone`() async throws {
    let storage = TestStorage(await Self.stored("stored", clock: self.clock), reads: false)
    let program = Program(storage, clock: self.clock)
    program.store().currentValue = "set"
    program.client.clearStores()
    #expect(await program.client.persistence.flush())
    storage.reading.open()
    expect(Program(storage.base, clock: self.clock).store().currentValue, equals: "set")
  }

  @Test func `A flush writes what was set before the stored value was read`() async throws {
    let storage = TestStorage(await Self.stored("stored", clock: self.clock), reads: false)
    let program = Program(storage, clock: self.clock)
    let store = program.store()
    store.currentValue = "set"
    #expect(await program.client.persistence.flush())
    expect(storage.batches.count, equals: 1)
    storage.reading.open()
    try await self.clock.noSleepers(.deadline, afterAdvancing: .milliseconds(100))
    expect(store.currentValue, equals: "set")
    #expect(await program.client.persistence.flush())
    expect(storage.batches.count, equals: 1)
    expect(program.restarted().store().currentValue, equals: "set")
  }

  @Test func `A reset while the value is being read stays`() async throws {
    let storage = TestStorage(await Self.stored("stored", clock: self.clock), reads: false)
    let program = Program(storage, clock: self.clock)
    let store = program.store()
    program.client.resetStores()
    storage.reading.open()
    try await self.clock.noSleepers(.deadline, afterAdvancing: .milliseconds(100))
    expect(store.currentValue, equals: nil)
    await program.client.persistence.flush()
    #expect(try await storage.keys().isEmpty)
  }

  @Test func `A value that was read ahead is there at once, and other values are not read`() async throws {
    let base = await Self.stored("stored", clock: self.clock)
    let storage = TestStorage(base)
    let program = Program(storage, clock: self.clock)
    await expect(program.client.restore(matching: ["text"]), equals: 1)
    expect(program.store().currentValue, equals: "stored")
    expect(program.store(Script(), 2).currentValue, equals: nil)
    expect(storage.readCount, equals: 1)
    // Another store at the path has to read what was written since.
    program.client.clearStores()
    expect(program.store().currentValue, equals: "stored")
    expect(storage.readCount, equals: 2)
  }

  @Test func `Only values below the path are read ahead`() async throws {
    let program = Program(clock: self.clock)
    let paths: [OperationPath] = [["a"], ["a", 1], ["a", 1, "x"], ["a", 10], ["ab"], ["b"]]
    for path in paths { program.client.store(for: Script().query(path: path).persisted(as: "text")).currentValue = "x" }
    await program.client.persistence.flush()
    await expect(program.restarted().client.restore(), equals: 6)
    await expect(program.restarted().client.restore(matching: ["a"]), equals: 4)
    await expect(program.restarted().client.restore(matching: ["a", 1]), equals: 2)
    await expect(program.restarted().client.restore(matching: ["a", "1"]), equals: 0)
  }

  @Test func `A storage that cannot be read is reported, and the value fetched`() async throws {
    let storage = TestStorage()
    storage.failToRead(true)
    let program = Program(storage, clock: self.clock)
    let store = expectWarning(.storageFailed) { program.store(Script(default: .value("fetched"))) }
    try await expect(store.fetch(), equals: "fetched")
    await expectWarning(.storageFailed) { await expect(program.client.restore(), equals: 0) }
  }
}

extension ManualClock {
  /// Advances the clock, and waits until it has no sleepers of a kind.
  func noSleepers(_ kind: SleeperKind, afterAdvancing duration: Duration) async throws {
    self.advance(by: duration)
    try await self.noSleepers(kind)
  }
}
