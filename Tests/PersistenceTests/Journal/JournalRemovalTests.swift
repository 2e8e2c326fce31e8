import OperationCore
import OperationMutation
import OperationPausing
import OperationPersistence
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// Removals while calls are being stored or made, as when a user signs out.
@Suite(.bounded, .warningsAreIssues) struct JournalRemovalTests {
  private let server = Server()
  private let script = Script()

  /// A program with a store that shows the updates of calls.
  private struct Screen {
    let program: Program
    let journal: MutationJournal
    let note: OperationStore<TextNoteState>
    let call: @Sendable (String) -> Task<String, any Error>
  }

  private func start(_ storage: any PersistentStorage, policy: JournalPolicy<Note> = .keepAll) -> Screen {
    let program = Program(storage)
    let journal = program.makeJournal()
    let mutation = Send(server: self.server, script: self.script).scope("s").journaled(as: "send", policy: policy)
      .optimistic(on: ["note"], of: TextNoteState.self) { text, note in text = "\(text ?? "")+\(note.text)" }
    journal.register(mutation, as: "send")
    let note = program.client.store(for: Script().query(path: ["note"]).stale(after: .seconds(60)))
    note.currentValue = "server"
    let store = program.client.store(for: mutation)
    return Screen(program: program, journal: journal, note: note) { text in
      Task.immediate { try await store.mutate(with: Note(id: 1, text: text)) }
    }
  }

  private func expectRemoved(_ call: Task<String, any Error>) async {
    let error = await #expect(throws: JournalError.self) { try await call.value }
    expect(error?.code, equals: .removed)
  }

  // MARK: - Calls that are being stored

  @Test func `A call that is being stored is removed with the others, and its caller receives an error`() async throws {
    let storage = HeldStorage()
    let screen = self.start(storage)
    let first = screen.call("a")
    let run = try await self.script.next()
    storage.door.close()
    let second = screen.call("b")
    expect(screen.note.currentValue, equals: "server+a+b")
    let removal = Task.immediate { await screen.journal.removeAll() }
    storage.door.open()
    #expect(await removal.value)
    #expect(screen.journal.entries.isEmpty)
    expect(screen.note.currentValue, equals: "server")
    await self.expectRemoved(second)
    run.succeed("ok")
    _ = await first.result
    #expect(try await storage.keys().isEmpty)
    expect(self.server.requests.map(\.text), equals: ["a"])
  }

  @Test func `A call that is being stored in place of another one is removed, and so is the other one`() async throws {
    let storage = HeldStorage()
    let screen = self.start(storage, policy: .replacePending(by: \.id))
    let first = screen.call("a")
    let run = try await self.script.next()
    let second = screen.call("b")
    storage.door.close()
    let third = screen.call("c")
    let removal = Task.immediate { await screen.journal.removeAll() }
    storage.door.open()
    #expect(await removal.value)
    expect(screen.note.currentValue, equals: "server")
    await self.expectRemoved(second)
    await self.expectRemoved(third)
    run.succeed("ok")
    _ = await first.result
    #expect(try await storage.keys().isEmpty)
    expect(self.server.requests.map(\.text), equals: ["a"])
  }

  @Test func `A call that begins meanwhile is made, and not merged with one that is removed`() async throws {
    let storage = HeldStorage()
    let joining = JournalPolicy<Note>.merge(by: \.id) { old, new in Note(id: new.id, text: old.text + new.text) }
    let screen = self.start(storage, policy: joining)
    let first = screen.call("a")
    let run = try await self.script.next()
    storage.door.close()
    let second = screen.call("b")
    let removal = Task.immediate { await screen.journal.removeAll() }
    let third = screen.call("c")
    storage.door.open()
    #expect(await removal.value)
    await self.expectRemoved(second)
    run.succeed("ok")
    _ = await first.result
    try await self.script.next().succeed("ok")
    try await expect(third.value, equals: "ok")
    expect(screen.note.currentValue, equals: "server+c")
    expect(self.server.requests.map(\.text), equals: ["a", "c"])
    #expect(try await storage.keys().isEmpty)
  }

  @Test func `A call with another name is accepted while the others are removed`() async throws {
    let storage = HeldStorage()
    storage.door.close()
    let screen = self.start(storage)
    let call = screen.call("a")
    let removal = Task.immediate { await screen.journal.removeAll(named: ["other"]) }
    storage.door.open()
    #expect(await removal.value)
    expect(screen.note.currentValue, equals: "server+a")
    try await self.script.next().succeed("ok")
    try await expect(call.value, equals: "ok")
  }

  @Test func `A call that cannot be stored fails with that error, also while all are removed`() async throws {
    let storage = TestStorage(writes: false)
    storage.failToWrite(true)
    let screen = self.start(storage)
    let call = screen.call("a")
    // It may be stored all the same.
    await expectWarning(.storageFailed) {
      let removal = Task.immediate { await screen.journal.removeAll() }
      storage.writing.open()
      #expect(await !removal.value)
    }
    let error = await #expect(throws: JournalError.self) { try await call.value }
    expect(error?.code, equals: .notAccepted)
    expect(screen.note.currentValue, equals: "server")
  }

  @Test func `If a call that has just been stored cannot be removed, the journal makes it`() async throws {
    let storage = StickyStorage()
    let screen = self.start(storage)
    storage.base.door.close()
    let call = screen.call("a")
    await expectWarning(.storageFailed) {
      let removal = Task.immediate { await screen.journal.removeAll() }
      storage.base.door.open()
      #expect(await !removal.value)
    }
    await self.expectRemoved(call)
    #expect(screen.journal.texts == ["a"] && screen.journal.statuses == [.waiting])
    self.script.enqueue(.value("ok"))
    storage.isSticky.withLock { $0 = false }
    await screen.journal.resume().settled()
    expect(self.server.requests.map(\.text), equals: ["a"])
    #expect(try await storage.keys().isEmpty)
  }

  @Test func `Signing out ends after removals that have failed and are tried again`() async throws {
    let storage = StickyStorage()
    let screen = self.start(storage)
    self.script.enqueue(.value("ok"))
    await expectWarning(.storageFailed) { _ = await screen.call("a").result }
    try await expect(storage.keys().count, equals: 1)
    storage.isSticky.withLock { $0 = false }
    storage.base.door.close()
    let flush = Task.immediate { await screen.journal.flush() }
    try await storage.base.door.arrival()
    let hasEnded = Mutex(false)
    let removal = Task.immediate {
      let isRemoved = await screen.journal.removeAll()
      hasEnded.withLock { $0 = true }
      return isRemoved
    }
    #expect(!hasEnded.withLock { $0 })
    storage.base.door.open()
    #expect(await removal.value)
    #expect(await flush.value)
    #expect(try await storage.keys().isEmpty)
  }

  // MARK: - Calls that are being made

  @Test func `A call that another process has made is not removed, and its caller gets to know that`() async throws {
    let storage = InMemoryStorage()
    let screen = self.start(storage)
    let first = screen.call("a")
    let run = try await self.script.next()
    let second = screen.call("b")
    let key = try #require(try await storage.keys().first { $0.hasSuffix("k2") })
    try await storage.apply([.remove(key: key)])
    #expect(await !screen.journal.remove("k2"))
    let error = await #expect(throws: JournalError.self) { try await second.value }
    expect(error?.code, equals: .takenOver)
    expect(screen.note.currentValue, equals: "server+a")
    run.succeed("ok")
    _ = await first.result
    expect(self.server.requests.map(\.text), equals: ["a"])
  }

  @Test(arguments: [true, false]) func `A removed call begins no attempt, also if it had its turn`(
    isSigningOut: Bool
  ) async throws {
    let network = NetworkSwitch()
    let program = Program()
    let journal = program.makeJournal()
    let mutation = Send(server: self.server, script: Script(default: .value("ok"))).waits(until: network).scope("s")
      .journaled(as: "send")
    let store = program.client.store(for: mutation)
    let call = Task.immediate { try await store.mutate(with: Note(id: 1, text: "a")) }
    expect(journal.statuses, equals: [.running])
    let isRemoved = isSigningOut ? await journal.removeAll() : await journal.remove("k1")
    #expect(isRemoved)
    network.turnOn()
    await self.expectRemoved(call)
    #expect(self.server.requests.isEmpty)
  }

  @Test func `An attempt does not begin whose call is removed while the attempt is being counted`() async throws {
    let storage = HeldStorage()
    try await leaveCalls(["a"], in: storage)
    let executor = SteppedExecutor()
    let program = Program(storage, executor: executor)
    let journal = program.makeJournal()
    journal.register(Send(server: self.server).scope("s").journaled(as: "send"), as: "send")
    storage.door.close()
    await journal.resume()
    executor.runAll()
    try await storage.door.arrival()
    expect(journal.entries.map(\.attempts), equals: [2])
    let removal = Task.immediate { await journal.remove("old1") }
    storage.door.open()
    // The task that writes counts the attempt, and removes the entry. The replay goes on after that.
    #expect(executor.runNext())
    #expect(await removal.value)
    executor.runAll()
    #expect(self.server.requests.isEmpty)
    #expect(try await storage.keys().isEmpty)
  }

  @Test func `Signing out takes back the update of a call whose entry another process has removed`() async throws {
    let storage = InMemoryStorage()
    let screen = self.start(storage)
    let call = screen.call("a")
    let run = try await self.script.next()
    let key = try #require(try await storage.keys().first { $0.hasSuffix("k1") })
    try await storage.apply([.remove(key: key)])
    expect(screen.note.currentValue, equals: "server+a")
    #expect(await screen.journal.removeAll())
    expect(screen.note.currentValue, equals: "server")
    run.succeed("ok")
    _ = await call.result
    expect(screen.note.currentValue, equals: "server")
  }

  @Test func `The update of a call that is being made goes with its entry, and its success does not bring it back`()
    async throws
  {
    let storage = TestStorage()
    let screen = self.start(storage)
    let call = screen.call("a")
    let run = try await self.script.next()
    expect(screen.note.currentValue, equals: "server+a")
    #expect(await screen.journal.removeAll())
    expect(screen.note.currentValue, equals: "server")
    run.succeed("ok")
    try await expect(call.value, equals: "ok")
    expect(screen.note.currentValue, equals: "server")
    expect(screen.note.stateWithoutLayers.currentValue, equals: "server")
  }

  @Test func `The update of a call that the journal makes again goes with its entry`() async throws {
    let storage = TestStorage()
    try await leaveCalls(["a"], in: storage)
    let screen = self.start(storage)
    let resumption = await screen.journal.resume()
    let run = try await self.script.next()
    expect(screen.note.currentValue, equals: "server+a")
    #expect(await screen.journal.remove("old1"))
    expect(screen.note.currentValue, equals: "server")
    run.succeed("ok")
    await resumption.settled()
    expect(screen.note.currentValue, equals: "server")
    #expect(try await storage.keys().isEmpty)
  }

  @Test func `If the entry cannot be removed, the update of a call that is being made stays`() async throws {
    let storage = TestStorage()
    let screen = self.start(storage)
    let call = screen.call("a")
    let run = try await self.script.next()
    storage.failToWrite(true)
    await expectWarning(.storageFailed) { #expect(await !screen.journal.removeAll()) }
    expect(screen.note.currentValue, equals: "server+a")
    storage.failToWrite(false)
    run.succeed("ok")
    try await expect(call.value, equals: "ok")
    expect(screen.note.stateWithoutLayers.currentValue, equals: "server+a")
  }

  @Test func `A call that is sent while it is being removed is not merged when that fails`() async throws {
    let storage = HeldStorage(TestStorage())
    let network = NetworkSwitch()
    let program = Program(storage)
    let journal = program.makeJournal()
    let joining = JournalPolicy<Note>.merge(by: \.id) { old, new in Note(id: new.id, text: old.text + new.text) }
    let send = Send(server: self.server, script: self.script).waits(until: network).scope("s")
      .journaled(as: "send", policy: joining)
    let store = program.client.store(for: send)
    let first = Task.immediate { try await store.mutate(with: Note(id: 1, text: "a")) }
    try await journal.texts(["a"])
    let id = try #require(journal.entries.first?.id)
    storage.door.close()
    let codes = try await warningCodes {
      let removal = Task.immediate { await journal.remove(id) }
      try await storage.door.arrival()
      network.turnOn()
      try await self.script.runs(count: 1)
      storage.base.failToWrite(true)
      storage.door.open()
      #expect(await !removal.value)
    }
    expect(codes, equals: [.storageFailed])
    storage.base.failToWrite(false)
    let second = Task.immediate { try await store.mutate(with: Note(id: 1, text: "b")) }
    try await journal.entries(count: 2)
    for call in [first, second] {
      try await self.script.next().succeed("ok")
      try await expect(call.value, equals: "ok")
    }
    expect(self.server.requests.map(\.text), equals: ["a", "b"])
  }
}

/// A storage that removes nothing.
private final class StickyStorage: PersistentStorage {
  let base = HeldStorage()
  let isSticky = Mutex(true)

  nonisolated(nonsending) func entries(withPrefix prefix: String) async throws -> [StorageEntry] {
    try await self.base.entries(withPrefix: prefix)
  }

  nonisolated(nonsending) func apply(_ batch: [StorageChange]) async throws { _ = try await self.apply(batch, if: []) }

  nonisolated(nonsending) func apply(
    _ batch: [StorageChange],
    if conditions: [StorageCondition]
  ) async throws -> StorageOutcome {
    let removes = batch.contains { if case .remove = $0 { true } else { false } }
    if removes, self.isSticky.withLock({ $0 }) { throw Broken() }
    return try await self.base.apply(batch, if: conditions)
  }

  nonisolated(nonsending) func close() async { await self.base.close() }
}
