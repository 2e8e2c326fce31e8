import FoundationEssentials
import OperationCore
import OperationMutation
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct ReplayTests {
  private let server = Server()

  @Test func `Calls of an earlier start are made again in order, with their keys`() async throws {
    let storage = InMemoryStorage()
    try await leaveCalls(["a", "b", "c"], in: storage)
    let program = Program(storage)
    let journal = program.makeJournal()
    expect(journal.texts, equals: ["a", "b", "c"])
    expect(journal.statuses, equals: [.waiting, .waiting, .waiting])
    journal.register(Send(server: self.server).scope("s").journaled(as: "send"), as: "send")
    await journal.resume().settled()
    expect(self.server.requests.map(\.key), equals: ["old1", "old2", "old3"])
    expect(self.server.done, equals: ["a", "b", "c"])
    #expect(journal.entries.isEmpty)
    #expect(try await storage.keys().isEmpty)
  }

  @Test func `A mutation may be registered without being journaled`() async throws {
    let storage = InMemoryStorage()
    try await leaveCalls(["a", "b", "c"], in: storage)
    let program = Program(storage)
    let journal = program.makeJournal()
    let script = Script()
    journal.register(Send(server: self.server, script: script), as: "send")
    let resumption = Task.immediate { await journal.resume().settled() }
    for count in 1...3 {
      let run = try await script.next()
      expect(self.server.requests.count, equals: count)
      run.succeed("ok")
    }
    await resumption.value
    expect(self.server.done, equals: ["a", "b", "c"])
    #expect(journal.entries.isEmpty)
  }

  @Test func `New calls come after those that are left, and their numbers after theirs`() async throws {
    let storage = InMemoryStorage()
    try await leaveCalls(["a", "b"], in: storage)
    let program = Program(storage)
    let journal = program.makeJournal()
    let mutation = Send(server: self.server).scope("s").journaled(as: "send")
    journal.register(mutation, as: "send")
    // `resume()` was not called: the new call makes the older ones first.
    try await program.client.store(for: mutation).mutate(with: Note(id: 1, text: "c"))
    expect(self.server.done, equals: ["a", "b", "c"])
    #expect(journal.entries.isEmpty)
  }

  @Test func `Each attempt is counted durably, and the last becomes a dead letter before it begins`() async throws {
    var storage = InMemoryStorage()
    try await leaveCalls(["poison", "b"], in: storage, letsPass: true)
    for attempt in 2...3 {
      let program = Program(storage)
      let journal = program.makeJournal(attemptsBeforeDeadLetter: 3)
      let script = Script()
      journal.register(Send(server: self.server, script: script).scope("s").journaled(as: "send"), as: "send")
      let resumption = await journal.resume()
      _ = try await script.next()
      expect(journal.entries.map(\.attempts), equals: [attempt, 1])
      // The program ends here: the journal of the next start reads what is stored now.
      storage = InMemoryStorage(entries: try await storage.entries(withPrefix: ""))
      resumption.cancel()
      await resumption.settled()
    }
    let program = Program(storage)
    let journal = program.makeJournal(attemptsBeforeDeadLetter: 3)
    journal.register(Send(server: self.server).scope("s").journaled(as: "send"), as: "send")
    await expectWarning(.journalDeadLetter) { await journal.resume().settled() }
    expect(self.server.done, equals: ["poison", "b"])
    expect(journal.statuses, equals: [.deadLetter])
    let again = Program(storage).makeJournal()
    expect(again.statuses, equals: [.deadLetter])
    again.register(Send(server: self.server).scope("s").journaled(as: "send"), as: "send")
    await again.resume().settled()
    expect(again.statuses, equals: [.deadLetter])
    #expect(await again.retry("old1"))
    #expect(await !again.retry("old1"))
    #expect(again.entries.isEmpty)
    expect(self.server.requests.map(\.text), equals: ["poison", "poison", "b", "poison"])
    #expect(try await storage.keys().isEmpty)
  }

  @Test func `A call that fails again stays, blocks its scope, and becomes a dead letter in the end`() async throws {
    let storage = InMemoryStorage()
    try await leaveCalls(["a", "b"], in: storage, letsPass: true)
    try await leaveCalls(["free"], in: storage, scope: nil)
    let program = Program(storage)
    let journal = program.makeJournal(attemptsBeforeDeadLetter: 3)
    let failing = FailingSend(server: self.server, failing: "a")
    journal.register(failing.scope("s").journaled(as: "send"), as: "send")
    await expectWarning(.journalCallFailed) { await journal.resume().settled() }
    expect(journal.texts, equals: ["a", "b"])
    expect(self.server.done, equals: ["a", "free"])
    await expectWarning(.journalCallFailed) {
      await expectWarning(.journalDeadLetter) { await journal.resume().settled() }
    }
    expect(journal.statuses, equals: [.deadLetter])
    expect(self.server.requests.map(\.text), equals: ["a", "free", "a", "b"])
  }

  @Test func `A call whose name is not registered stays, is reported, and keeps its place`() async throws {
    let storage = InMemoryStorage()
    try await leaveCalls(["a"], in: storage, name: "other")
    try await leaveCalls(["b"], in: storage)
    try await leaveCalls(["c"], in: storage, scope: "another")
    let program = Program(storage)
    let journal = program.makeJournal()
    journal.register(Send(server: self.server).scope("s").journaled(as: "send"), as: "send")
    await expectWarning(.journalNameUnregistered) { await journal.resume().settled() }
    expect(self.server.done, equals: ["c"])
    expect(journal.texts, equals: ["a", "b"])
    journal.register(Send(server: self.server, path: ["other"]).scope("s").journaled(as: "other"), as: "other")
    await journal.resume().settled()
    expect(self.server.done, equals: ["c", "a", "b"])
    #expect(journal.entries.isEmpty)
  }

  @Test(arguments: ["", "{", "{\"format\":2}", "null", "{\"format\":1,\"id\":7}"])
  func `An entry that cannot be read is kept as it is, reported, and blocks nothing`(text: String) async throws {
    let storage = InMemoryStorage()
    try await leaveCalls(["a"], in: storage)
    let key = "journal/00000000000000000007-odd"
    try await storage.apply([.put(key: key, value: Array(text.utf8))])
    let program = Program(storage)
    let journal = expectWarning(.journalEntryUnreadable) { program.makeJournal() }
    journal.register(Send(server: self.server).scope("s").journaled(as: "send"), as: "send")
    await journal.resume().settled()
    expect(self.server.done, equals: ["a"])
    expect(journal.entries.map(\.id), equals: [key])
    expect(journal.statuses, equals: [.unreadable])
    try await expect(storage.entries(withPrefix: "").map(\.value), equals: [Array(text.utf8)])
    #expect(await !journal.retry(key))
    // The number of a new call is greater than any.
    try await program.client.store(for: Send(server: self.server).scope("s").journaled(as: "send"))
      .mutate(with: Note(id: 1, text: "new"))
    #expect(await journal.remove(key))
    #expect(try await storage.keys().isEmpty)
  }

  @Test func `Arguments that cannot be decoded become dead letters`() async throws {
    let storage = InMemoryStorage()
    try await leaveCalls(["a\\\",\\\"id\\\":\\\"x"], in: storage)
    try await leaveCalls(["b"], in: storage)
    let program = Program(storage)
    let journal = program.makeJournal()
    journal.register(Send(server: self.server).scope("s").journaled(as: "send"), as: "send")
    await journal.resume().settled()
    expect(self.server.done.last, equals: "b")
  }

  @Test func `Updates of calls that wait are shown over the restored state, in order`() async throws {
    let storage = InMemoryStorage()
    let before = Program(storage)
    let note = Script().query(path: ["note"]).persisted(as: "note")
    before.client.store(for: note).currentValue = "server"
    await before.client.persistence.flush()
    try await leaveCalls(["a", "b"], in: storage)

    let program = Program(storage)
    let journal = program.makeJournal()
    let script = Script()
    let mutation = Send(server: self.server, script: script).scope("s").journaled(as: "send")
      .optimistic(on: ["note"], of: TextNoteState.self) { text, note in text = "\(text ?? "")+\(note.text)" }
    journal.register(mutation, as: "send")
    let store = program.client.store(for: note)
    expect(store.currentValue, equals: "server")
    let resumption = Task.immediate { await journal.resume().settled() }
    expect(store.currentValue, equals: "server+a+b")
    expect(store.stateWithoutLayers.currentValue, equals: "server")
    await program.client.persistence.flush()
    expect(program.restarted().client.store(for: note).currentValue, equals: "server")
    try await script.next().succeed("ok")
    try await script.next().succeed("ok")
    await resumption.value
    expect(store.currentValue, equals: "server+a+b")
    expect(store.stateWithoutLayers.currentValue, equals: "server+a+b")
  }

  @Test func `A call that is removed before its body begins is not sent, and its update is gone`() async throws {
    let storage = InMemoryStorage()
    try await leaveCalls(["a"], in: storage)
    let executor = SteppedExecutor()
    var context = OperationContext()
    context.operationTaskConfiguration.executorPreference = executor
    let client = OperationClient(defaultContext: context)
    let journal = MutationJournal(storage: storage, resumes: .manually)
    client.journal = journal
    let mutation = Send(server: self.server).journaled(as: "send")
      .optimistic(on: ["note"], of: TextNoteState.self) { text, note in text = "\(text ?? "")+\(note.text)" }
    journal.register(mutation, as: "send")
    let note = client.store(for: Script().query(path: ["note"]))
    note.currentValue = "server"
    Task(executorPreference: executor) { await journal.resume() }
    while note.currentValue == "server", executor.runNext() {}
    expect(note.currentValue, equals: "server+a")
    #expect(self.server.requests.isEmpty)
    let removal = Task.immediate { await journal.remove("old1") }
    executor.runAll()
    #expect(await removal.value)
    #expect(self.server.requests.isEmpty)
    expect(note.currentValue, equals: "server")
    #expect(journal.entries.isEmpty)
  }

  @Test func `A removal that fails is repeated with the next call, and the caller gets its value`() async throws {
    let storage = TestStorage()
    let program = Program(storage)
    let journal = program.makeJournal()
    let script = Script()
    let store = program.client.store(for: Send(server: self.server, script: script).journaled(as: "send"))
    await expectWarning(.storageFailed) {
      let call = Task.immediate { try await store.mutate(with: Note(id: 1, text: "a")) }
      let run = try? await script.next()
      storage.failToWrite(true)
      run?.succeed("ok")
      expect((try? await call.value), equals: "ok")
    }
    #expect(journal.entries.isEmpty)
    try await expect(storage.keys().count, equals: 1)
    storage.failToWrite(false)
    script.enqueue(.value("ok"))
    try await store.mutate(with: Note(id: 1, text: "b"))
    #expect(try await storage.keys().isEmpty)
  }

  @Test func `A clock that is set back does not change the order`() async throws {
    let program = Program()
    let journal = program.makeJournal()
    let script = Script()
    let store = program.client.store(for: Send(server: self.server, script: script).scope("s").journaled(as: "send"))
    let calls = ["a", "b", "c"].enumerated().map { index, text in
      program.clock.setDate(Date(timeIntervalSinceReferenceDate: -Double(index) * 86_400))
      return Task.immediate { try await store.mutate(with: Note(id: 1, text: text)) }
    }
    expect(journal.texts, equals: ["a", "b", "c"])
    // The program ends here, and another one reads what is stored.
    let later = program.restarted().makeJournal()
    expect(later.texts, equals: ["a", "b", "c"])
    later.register(Send(server: self.server), as: "send")
    await later.resume().settled()
    expect(self.server.done, equals: ["a", "b", "c"])
    // The first program begins none of the calls that the other one has made.
    try await script.next().succeed("ok")
    _ = try await calls[0].value
    for call in calls.dropFirst() {
      await #expect { try await call.value } throws: { ($0 as? JournalError)?.code == .takenOver }
    }
    expect(self.server.requests.map(\.text), equals: ["a", "a", "b", "c"])
  }

  @Test func `Two resumptions at once make each call once`() async throws {
    let storage = InMemoryStorage()
    try await leaveCalls(["a", "b", "c"], in: storage)
    let journal = Program(storage).makeJournal()
    journal.register(Send(server: self.server).scope("s").journaled(as: "send"), as: "send")
    async let first: Void = journal.resume().settled()
    async let second: Void = journal.resume().settled()
    _ = await (first, second)
    await journal.resume().settled()
    expect(self.server.requests.map(\.text), equals: ["a", "b", "c"])
  }

  @Test func `A storage that cannot be read is reported, and read later`() async throws {
    let storage = TestStorage()
    try await leaveCalls(["a"], in: storage)
    storage.failToRead(true)
    let program = Program(storage)
    let journal = program.makeJournal()
    let mutation = Send(server: self.server).scope("s").journaled(as: "send")
    journal.register(mutation, as: "send")
    await expectWarning(.storageFailed) { await journal.resume().settled() }
    await #expect(throws: JournalError.self) {
      try await program.client.store(for: mutation).mutate(with: Note(id: 1, text: "b"))
    }
    storage.failToRead(false)
    await journal.resume().settled()
    expect(self.server.done, equals: ["a"])
  }
}

/// Fails with one text.
private struct FailingSend: MutationRequest {
  let server: Server
  let failing: String
  let path: OperationPath = ["send"]

  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Note,
    in context: OperationContext,
    with continuation: OperationContinuation<String, any Error>
  ) async throws -> String {
    self.server.receive(arguments.text, key: context.operationIdempotencyKey)
    if arguments.text == self.failing { throw Refused() }
    return "ok"
  }
}
