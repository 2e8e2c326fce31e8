import Dispatch
import OperationCore
import OperationMutation
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// `client.clearEverything()`: what is stored and journaled of a user goes, also what is on its way.
@Suite(.bounded, .warningsAreIssues) struct ClearingTests {
  private let clock = ManualClock()
  private let server = Server()

  private func send(_ script: Script = Script(default: .value("ok"))) -> some MutationRequest<Note, String, any Error> {
    Send(server: self.server, script: script).scope("s").journaled(as: "send")
      .optimistic(on: ["note"], of: TextNoteState.self) { text, note in text = "\(text ?? "")+\(note.text)" }
  }

  // MARK: - Values

  @Test func `Stored values go, and those that wait, are written or are restored`() async throws {
    let base = InMemoryStorage()
    let former = Program(base, clock: self.clock)
    for number in 0..<3 { former.store(Script(), number).currentValue = "secret \(number)" }
    #expect(await former.client.persistence.flush())
    let storage = TestStorage(base, writes: false)
    let program = Program(storage, clock: self.clock)
    await expect(program.client.restore(), equals: 3)
    let held = program.store(Script(), 0)
    expect(held.currentValue, equals: "secret 0")
    held.currentValue = "secret, being written"
    let flush = Task.immediate { await program.client.persistence.flush() }
    try await storage.writing.arrivals(count: 1)
    held.currentValue = "secret, waiting"
    let clearing = Task.immediate { try await program.client.clearEverything() }
    let late = program.store(Script(), 1)
    storage.writing.open()
    try await clearing.value
    _ = await flush.value
    expect(late.currentValue, equals: nil)
    expect(held.currentValue, equals: nil)
    held.currentValue = "secret of the holder"
    #expect(await program.client.persistence.flush())
    #expect(try await storage.keys().isEmpty)
    await expect(program.restarted().client.restore(), equals: 0)
    program.store(Script(), 2).currentValue = "of the next user"
    #expect(await program.client.persistence.flush())
    try await expect(storage.keys("value/").count, equals: 1)
  }

  @Test func `A store that is being restored shows nothing of the former user`() async throws {
    let base = InMemoryStorage()
    let first = Program(base, clock: self.clock)
    first.store().currentValue = "secret"
    #expect(await first.client.persistence.flush())
    let storage = TestStorage(base, reads: false)
    let program = Program(storage, clock: self.clock)
    let recorder = TextRecorder()
    let store = program.store(Script(default: .value("new")))
    let subscription = store.subscribe(with: recorder.handler)
    defer { subscription.cancel() }
    try await storage.reading.arrivals(count: 1)
    let clearing = Task.immediate { try await program.client.clearEverything() }
    storage.reading.open()
    try await clearing.value
    let showsSecret = recorder.digests.contains(.state("secret"))
    #expect(!showsSecret)
    #expect(try await storage.keys().isEmpty)
    expect(program.store().currentValue, equals: nil)
  }

  @Test func `A storage that fails or hangs is named, and calling again continues`() async throws {
    let base = InMemoryStorage()
    let former = Program(base, clock: self.clock)
    former.store().currentValue = "secret"
    #expect(await former.client.persistence.flush())
    let storage = TestStorage(base, writes: false)
    let program = Program(storage, clock: self.clock)
    storage.failToRead(true)
    let failure = await #expect(throws: ClearingError.self) { try await program.client.clearEverything() }
    guard case .storage("TestStorage", let cause)? = failure?.remaining.first else { throw Broken() }
    #expect(cause is Broken)
    storage.failToRead(false)
    let hanging = Task.immediate {
      try await program.client.clearEverything(within: .seconds(2)) { Issue.record("Something is left.") }
    }
    try await storage.writing.arrivals(count: 1)
    self.clock.advance(by: .seconds(2))
    let late = await #expect(throws: ClearingError.self) { try await hanging.value }
    guard case .storage("TestStorage", let cause)? = late?.remaining.first else { throw Broken() }
    expect((cause as? StorageError)?.code, equals: .busy)
    storage.writing.open()
    try await program.client.clearEverything()
    #expect(try await storage.keys().isEmpty)
  }

  @Test func `What earlier starts have stored goes, although nothing was used yet`() async throws {
    let storage = InMemoryStorage()
    let former = Program(storage, clock: self.clock)
    former.store().currentValue = "secret"
    #expect(await former.client.persistence.flush())
    try await leaveCalls(["a", "b"], in: storage)
    try await Program(storage, clock: self.clock).client.clearEverything()
    #expect(try await storage.keys().isEmpty)
  }

  @Test func `Values that were handed over are not shown by later stores`() async throws {
    let writer = Program(clock: self.clock)
    let query = Script().query(path: ["text", 1]).hydratable(as: "text")
    writer.client.store(for: query).currentValue = "secret"
    let reader = Program(clock: self.clock)
    expect(reader.client.hydrate(writer.client.dehydrate()).keptCount, equals: 1)
    try await reader.client.clearEverything()
    expect(reader.client.store(for: query).currentValue, equals: nil)
  }

  // MARK: - Calls

  @Test func `Journaled calls go: those that wait, are made and are being stored`() async throws {
    let storage = TestStorage()
    let program = Program(storage, clock: self.clock)
    let script = Script()
    let journal = program.makeJournal()
    let mutation = self.send(script)
    journal.register(mutation, as: "send")
    let note = program.client.store(for: Script().query(path: ["note"]).stale(after: .seconds(60)))
    note.currentValue = "server"
    let store = program.client.store(for: mutation)
    let calls = ["a", "b"].map { text in Task.immediate { try await store.mutate(with: Note(id: 1, text: text)) } }
    let run = try await script.next()
    expect(note.currentValue, equals: "server+a+b")
    expect(journal.entries.count, equals: 2)

    try await program.client.clearEverything { #expect(run.isCancelled) }

    for call in calls { await #expect(throws: (any Error).self) { try await call.value } }
    expect(note.currentValue, equals: nil)
    #expect(journal.entries.isEmpty)
    #expect(try await storage.keys().isEmpty)
    await journal.resume().settled()
    expect(self.server.requests.map(\.text), equals: ["a"])
    #expect(store.state.history.isEmpty)
    let next = program.client.store(for: mutation)
    #expect(next.state.journaledCalls.isEmpty)
    script.enqueue(.value("ok"))
    try await expect(next.mutate(with: Note(id: 1, text: "c")), equals: "ok")
    expect(self.server.done, equals: ["a", "c"])
  }

  @Test func `Calls of earlier starts are not made again, whether they are being replayed or not`() async throws {
    let storage = InMemoryStorage()
    try await leaveCalls(["a", "b", "c"], in: storage)
    let program = Program(storage, clock: self.clock)
    let script = Script()
    let journal = program.makeJournal()
    journal.register(self.send(script), as: "send")
    await journal.resume()
    let run = try await script.next()
    try await program.client.clearEverything()
    #expect(run.isCancelled)
    #expect(try await storage.keys().isEmpty)
    await journal.resume().settled()
    expect(self.server.requests.map(\.text), equals: ["a"])
  }

  @Test func `A replay that begins meanwhile makes no call`() async throws {
    let storage = InMemoryStorage()
    try await leaveCalls(["a"], in: storage)
    let program = Program(storage, clock: self.clock)
    let journal = program.makeJournal()
    let resuming = Resumer(journal)
    journal.register(self.send(), as: "send")
    // Asked to clear before the journal, or after it: the replay waits at the gate, and its call is gone.
    program.client.attach(resuming)
    try await program.client.clearEverything()
    await journal.resume().settled()
    #expect(self.server.requests.isEmpty)
    #expect(try await storage.keys().isEmpty)
  }

  @Test(arguments: [false, true])
  func `A mutation signs the user out, also in a task of its own`(hasTask: Bool) async throws {
    let storage = InMemoryStorage()
    let program = Program(storage, clock: self.clock)
    let journal = program.makeJournal()
    let (client, server) = (program.client, self.server)
    let signOut = MutationOperation<Void, String, any Error>("sign out") { _, context in
      server.receive("sign out", key: nil)
      let clear: @Sendable () async throws -> Void = {
        try await client.clearEverything { server.receive("switch", key: nil) }
      }
      if hasTask { try await Task.immediate(operation: clear).value } else { try await clear() }
      return "bye"
    }
    program.store().currentValue = "secret"
    #expect(await client.persistence.flush())
    let store = client.store(for: signOut)
    try await expect(store.mutate(), equals: "bye")
    expect(self.server.requests.map(\.text), equals: ["sign out", "switch"])
    expect(store.currentValue, equals: nil)
    #expect(try await storage.keys().isEmpty)
    #expect(journal.entries.isEmpty)
    expect(self.clock.sleeperCount(), equals: 0)
  }

  @Test func `A call that begins meanwhile waits for the clearing, which does not wait for the call`() async throws {
    let storage = TestStorage(InMemoryStorage(), reads: false)
    let program = Program(storage, clock: self.clock)
    let journal = program.makeJournal()
    let store = program.client.store(for: self.send())
    let clearing = Task.immediate { try await program.client.clearEverything() }
    try await storage.reading.arrivals(count: 1)
    // It has its place in the journal, and its run waits until the client is cleared.
    let call = Task.immediate { try await store.mutate(with: Note(id: 1, text: "secret")) }
    storage.reading.open()
    try await clearing.value
    await #expect { try await call.value } throws: { ($0 as? JournalError)?.code == .removed }
    #expect(self.server.requests.isEmpty && journal.entries.isEmpty)
    #expect(try await storage.keys().isEmpty)
  }

  @Test func `A set that is under way while its store is removed is not stored`() async throws {
    let storage = InMemoryStorage()
    let program = Program(storage, clock: self.clock)
    let (isSetting, isSet, goesOn) = (Gate(), Gate(), DispatchSemaphore(value: 0))
    let query = Script().query(path: ["slow"])
      .persisted(
        as: "slow",
        excluding: .where { value in
          // Asked on the thread of the set, before the value goes to the writer.
          if value == "secret", !isSetting.isOpen {
            isSetting.open()
            goesOn.wait()
          }
          return false
        }
      )
    let store = program.client.store(for: query)
    // On a thread that may be blocked.
    DispatchQueue.global().async {
      store.currentValue = "secret"
      isSet.open()
    }
    try await isSetting.wait()
    try await program.client.clearEverything()
    goesOn.signal()
    try await isSet.wait()
    #expect(await program.client.persistence.flush())
    #expect(try await storage.keys("value/").isEmpty)
  }

  @Test func `Sets and calls of many threads leave nothing behind`() async throws {
    let storage = InMemoryStorage()
    let program = Program(storage, clock: self.clock)
    let journal = program.makeJournal()
    let mutation = self.send()
    journal.register(mutation, as: "send")
    let client = program.client
    for _ in 0..<20 {
      let stores = (0..<4).map { program.store(Script(), $0) }
      let calls = client.store(for: mutation)
      await withDiscardingTaskGroup { group in
        for store in stores {
          group.addTask { for step in 0..<20 { store.currentValue = "secret \(step)" } }
        }
        group.addTask { _ = try? await calls.mutate(with: Note(id: 1, text: "secret")) }
        group.addTask { try? await client.clearEverything() }
      }
      for store in stores { store.currentValue = "secret" }
      let kept = Set(client.stores().map(\.reference))
      #expect(kept.isDisjoint(with: stores.map(\.reference)))
      #expect(await client.flush())
      #expect(try await storage.keys("value/").isEmpty)
    }
    try await client.clearEverything()
    #expect(try await storage.keys().isEmpty)
  }
}

/// Resumes a journal while the client clears everything.
private final class Resumer: OperationClientClearing {
  private let journal: MutationJournal

  init(_ journal: MutationJournal) {
    self.journal = journal
  }

  var remainingUntilCleared: [ClearingError.Remaining] { [] }

  nonisolated(nonsending) func clear() async -> [ClearingError.Remaining] {
    await self.journal.resume()
    return []
  }
}
