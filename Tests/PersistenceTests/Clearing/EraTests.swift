import OperationCore
import OperationPersistence
import OperationTesting
import SubjectFixtures
import TestFixtures
import Testing

/// Processes that share a storage: what one of them has removed with the user, the others do not bring back.
@Suite(.bounded, .warningsAreIssues) struct EraTests {
  private let clock = ManualClock()
  private let base = InMemoryStorage()

  /// A process, whose storage has all its entries in the one of all processes.
  private func start(sealed isSealed: Bool = false) -> Program {
    let storage = SharedStorage(self.base)
    return Program(isSealed ? SealedStorage(storage, key: TestKey(1)) : storage, clock: self.clock)
  }

  private func values() async throws -> [String] { try await self.base.keys("value/") }

  @Test(arguments: [false, true])
  func `Another process stores no value of the former user any more`(isSealed: Bool) async throws {
    let (first, second) = (self.start(sealed: isSealed), self.start(sealed: isSealed))
    let store = second.store()
    store.currentValue = "secret"
    #expect(await second.client.persistence.flush())
    try await first.client.clearEverything()
    store.currentValue = "secret, later"
    let notices = Log<OperationNotice.Name>()
    let subscription = second.client.onNotice { notices.append($0.name) }
    #expect(await !second.client.persistence.flush())
    expect(store.currentValue, equals: nil)
    expect(notices.all, equals: [.storageCleared])
    #expect(try await first.storage.keys().isEmpty)

    store.currentValue = "of the next user"
    #expect(await second.client.persistence.flush())
    await expect(self.start(sealed: isSealed).client.restore(), equals: 1)
    subscription.cancel()
  }

  @Test func `Values that wait in a long row are dropped, all of them`() async throws {
    let (first, second) = (self.start(), self.start())
    // More than a batch may have.
    let stores = (0..<4_100).map { second.store(Script(), $0) }
    for store in stores { store.currentValue = "secret" }
    try await first.client.clearEverything()
    #expect(await !second.client.persistence.flush())
    #expect(try await self.base.keys().isEmpty)
    #expect(stores.allSatisfy { $0.currentValue == nil })
    #expect(await second.client.persistence.flush())
    #expect(try await self.base.keys().isEmpty)
  }

  @Test func `What another process invalidates does not leave its paths`() async throws {
    let (first, second) = (self.start(), self.start())
    let store = second.store()
    store.currentValue = "secret"
    #expect(await second.client.persistence.flush())
    try await first.client.clearEverything()
    second.client.invalidate(matching: ["text", 1])
    _ = await second.client.persistence.flush()
    #expect(try await self.base.keys().allSatisfy { !$0.contains("text") })
  }

  /// What the first process stores after it has removed all values, before the second one hears of it and invalidates it.
  private func invalidateValueOfNextUser(_ first: Program, _ second: Program) async throws {
    second.store(Script(), 2).currentValue = "secret"
    #expect(await second.client.persistence.flush())
    try await first.client.clearEverything()
    first.store().currentValue = "of the next user"
    #expect(await first.client.persistence.flush())
    second.client.invalidate(matching: ["text", 1])
    _ = await second.client.persistence.flush()
  }

  @Test func `What a process invalidates before it hears of the removal stays invalidated`() async throws {
    let (first, second) = (self.start(), self.start())
    try await self.invalidateValueOfNextUser(first, second)
    await expect(second.client.restore(), equals: 1)
    let store = second.store()
    expect(store.currentValue, equals: "of the next user")
    #expect(store.isStale)
    store.currentValue = "newer"
    #expect(await second.client.persistence.flush())
    let later = self.start()
    await expect(later.client.restore(), equals: 1)
    expect(later.store().currentValue, equals: "newer")
    #expect(!later.store().isStale)
  }

  @Test func `It is invalidated for the processes that begin later, too`() async throws {
    try await self.invalidateValueOfNextUser(self.start(), self.start())
    let later = self.start()
    await expect(later.client.restore(), equals: 1)
    expect(later.store().currentValue, equals: "of the next user")
    #expect(later.store().isStale)
  }

  @Test func `What a process has invalidated before the removal concerns no later value`() async throws {
    let (first, second) = (self.start(), self.start())
    let store = second.store(Script(), 2)
    store.currentValue = "secret"
    second.client.invalidate(matching: ["text", 1])
    #expect(await second.client.persistence.flush())
    try await first.client.clearEverything()
    first.store().currentValue = "of the next user"
    #expect(await first.client.persistence.flush())
    store.currentValue = "secret, later"
    #expect(await !second.client.persistence.flush())
    await expect(second.client.restore(), equals: 1)
    expect(second.store().currentValue, equals: "of the next user")
    #expect(!second.store().isStale)
  }

  @Test func `A value that was read ahead is not shown once the process has heard of the removal`() async throws {
    let writer = self.start()
    for number in 1...2 { writer.store(Script(), number).currentValue = "secret" }
    #expect(await writer.client.persistence.flush())
    let (first, second) = (self.start(), self.start())
    await expect(second.client.restore(), equals: 2)
    let store = second.store(Script(), 1)
    expect(store.currentValue, equals: "secret")
    try await first.client.clearEverything()
    store.currentValue = "secret, later"
    #expect(await !second.client.persistence.flush())
    expect(second.store(Script(), 2).currentValue, equals: nil)
  }

  @Test func `A run of the former user that is under way does not come back`() async throws {
    let (first, second) = (self.start(), self.start())
    let script = Script()
    let (store, other) = (second.store(script), second.store(Script(), 2))
    other.currentValue = "secret"
    #expect(await second.client.persistence.flush())
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await script.next()
    try await first.client.clearEverything()
    other.currentValue = "secret, later"
    #expect(await !second.client.persistence.flush())
    run.succeed("secret of the run")
    _ = try? await fetch.value
    _ = await second.client.persistence.flush()
    expect(store.currentValue, equals: nil)
    #expect(try await self.values().isEmpty)
  }

  @Test func `Both may remove all, and each hears of the other`() async throws {
    let (first, second) = (self.start(), self.start())
    for program in [first, second, first] {
      let other = program.client === first.client ? second : first
      let store = other.store()
      store.currentValue = "secret"
      #expect(await other.client.persistence.flush() || store.currentValue == nil)
      try await program.client.clearEverything()
      other.store().currentValue = "secret, later"
      #expect(await !other.client.persistence.flush())
      #expect(try await self.values().isEmpty)
    }
  }

  @Test func `A process that begins after the removal stores as usual`() async throws {
    try await self.start().client.clearEverything()
    let program = self.start()
    program.store().currentValue = "of the next user"
    #expect(await program.client.persistence.flush())
    try await expect(self.values().count, equals: 1)
    try await expect(self.base.entries(withPrefix: "epoch/").map(\.key), equals: ["epoch/=era"])
  }

  @Test func `What the next user has stored already stays`() async throws {
    let (first, second) = (self.start(), self.start())
    let store = second.store()
    store.currentValue = "secret"
    #expect(await second.client.persistence.flush())
    try await first.client.clearEverything()
    first.store().currentValue = "of the next user"
    #expect(await first.client.persistence.flush())
    store.currentValue = "secret, later"
    #expect(await !second.client.persistence.flush())
    #expect(await second.client.persistence.flush())
    expect(store.currentValue, equals: nil)
    let later = self.start()
    await expect(later.client.restore(), equals: 1)
    expect(later.store().currentValue, equals: "of the next user")
  }

  @Test func `A second removal is noticed although the first one was not heard of yet`() async throws {
    let (first, storage) = (self.start(), SharedStorage(self.base))
    let second = Program(storage, clock: self.clock)
    let (store, other) = (second.store(), second.store(Script(), 2))
    store.currentValue = "secret"
    #expect(await second.client.persistence.flush())
    try await first.client.clearEverything()
    store.currentValue = "secret, later"
    let gate = storage.holdNextReading()
    let flush = Task.immediate { await second.client.persistence.flush() }
    try await gate.arrivals(count: 1)
    // The process has read the era that ends here.
    try await first.client.clearEverything()
    gate.open()
    #expect(await !flush.value)
    other.currentValue = "secret of the second user"
    #expect(await !second.client.persistence.flush())
    expect(other.currentValue, equals: nil)
    #expect(try await self.values().isEmpty)
  }

  @Test func `What is set while a removal waits is dropped if another process removes all before`() async throws {
    let (first, storage) = (self.start(), SharedStorage(self.base))
    let second = Program(storage, clock: self.clock)
    let store = second.store()
    store.currentValue = "secret"
    #expect(await second.client.persistence.flush())
    let gate = storage.holdNextReading(of: "value/", begun: false)
    let earlier = Task.immediate { try await second.client.persistence.removeAll(matching: ["other"]) }
    try await gate.arrivals(count: 1)
    let removal = Task.immediate { try await second.client.persistence.removeAll() }
    store.currentValue = "secret, later"
    try await first.client.clearEverything()
    let notices = Log<OperationNotice.Name>()
    let subscription = second.client.onNotice { notices.append($0.name) }
    gate.open()
    try await earlier.value
    try await removal.value
    _ = await second.client.persistence.flush()
    expect(store.currentValue, equals: nil)
    expect(notices.all, equals: [.storageCleared])
    #expect(try await self.values().isEmpty)
    subscription.cancel()
  }

  @Test func `A removal that takes long leaves what the next user of another process has stored`() async throws {
    let (first, storage) = (self.start(), SharedStorage(self.base))
    let second = Program(storage, clock: self.clock)
    second.store().currentValue = "secret"
    #expect(await second.client.persistence.flush())
    let gate = storage.holdNextReading(of: "value/", begun: false)
    let removal = Task.immediate { try await second.client.persistence.removeAll() }
    try await gate.arrivals(count: 1)
    try await first.client.clearEverything()
    first.store().currentValue = "of the next user"
    #expect(await first.client.persistence.flush())
    gate.open()
    try await removal.value
    let later = self.start()
    await expect(later.client.restore(), equals: 1)
    expect(later.store().currentValue, equals: "of the next user")
  }

  @Test func `Runs that wait until a user is forgotten go on if another process has removed all before`() async throws {
    let (first, storage) = (self.start(), SharedStorage(self.base))
    let second = Program(storage, clock: self.clock)
    second.store().currentValue = "secret"
    #expect(await second.client.persistence.flush())
    try await first.client.clearEverything()
    let gate = storage.holdNextReading(of: "value/", begun: false)
    let earlier = Task.immediate { try await second.client.persistence.removeAll(matching: ["other"]) }
    try await gate.arrivals(count: 1)
    let clearing = Task.immediate { try await second.client.clearEverything() }
    let script = Script()
    let fetch = Task.immediate { try await second.store(script).fetch() }
    gate.open()
    try await earlier.value
    try await clearing.value
    try await script.next().succeed("of the next user")
    try await expect(fetch.value, equals: "of the next user")
    #expect(await second.client.persistence.flush())
    try await expect(self.values().count, equals: 1)
  }

  @Test func `A storage that fails when the process hears of the removal stores nothing of before`() async throws {
    let (first, storage) = (self.start(), SharedStorage(self.base))
    let second = Program(storage, clock: self.clock)
    let store = second.store()
    store.currentValue = "secret"
    #expect(await second.client.persistence.flush())
    try await first.client.clearEverything()
    storage.failNextReading()
    await OperationWarning.withReporter { _ in
    } operation: {
      store.currentValue = "secret, later"
      #expect(await !second.client.persistence.flush())
    }
    expect(store.currentValue, equals: nil)
    // It hears of it once more, because it does not know the era yet.
    store.currentValue = "later still"
    #expect(await !second.client.persistence.flush())
    #expect(try await self.values().isEmpty)
    store.currentValue = "of the next user"
    #expect(await second.client.persistence.flush())
  }

  @Test func `A value that was read before the removal is not stored again`() async throws {
    let former = self.start()
    former.store().currentValue = "secret"
    #expect(await former.client.persistence.flush())
    let (first, storage) = (self.start(), SharedStorage(self.base))
    let second = Program(storage, clock: self.clock)
    let gate = storage.holdNextReading(of: "value/")
    let store = second.store()
    try await gate.arrivals(count: 1)
    try await first.client.clearEverything()
    let recorder = TextRecorder()
    let subscription = store.subscribe(with: recorder.handler)
    gate.open()
    _ = try await recorder.firstState { $0.currentValue == "secret" }
    subscription.cancel()
    store.currentValue = "secret, later"
    #expect(await !second.client.persistence.flush())
    expect(store.currentValue, equals: nil)
    #expect(try await self.values().isEmpty)
  }

  @Test func `The era costs one read for a process, and none for a batch`() async throws {
    let storage = SharedStorage(self.base)
    let program = Program(storage, clock: self.clock)
    let stores = (0..<100).map { program.store(Script(), $0) }
    let reads = storage.reads.value
    for round in 0..<10 {
      for store in stores { store.currentValue = "\(round)" }
      #expect(await program.client.persistence.flush())
    }
    expect(storage.reads.value, equals: reads)
    expect(storage.batches.value, equals: 10)
    // One for each store, and one of the era with the invalidations.
    expect(reads, equals: 101)
  }

  @Test func `A storage of one process has no era`() async throws {
    let program = Program(self.base, clock: self.clock)
    program.store().currentValue = "secret"
    #expect(await program.client.persistence.flush())
    try await program.client.clearEverything()
    #expect(try await self.base.entries(withPrefix: "").isEmpty)
  }
}
