import OperationCore
import OperationMutation
import OperationPausing
import OperationPersistence
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// Reading without sending, resuming, and what waits for it.
@Suite(.bounded, .warningsAreIssues) struct JournalResumptionTests {
  private let server = Server()
  private let script = Script()

  private var send: Send { Send(server: self.server, script: self.script) }

  @Test func `Loading reads the entries and sends nothing`() async throws {
    let storage = TestStorage(reads: false)
    try await leaveCalls(["a", "b"], in: storage.base)
    let journal = Program(storage).makeJournal()
    journal.register(self.send.scope("s").journaled(as: "send"), as: "send")
    #expect(journal.entries.isEmpty)
    storage.reading.open()
    try await journal.load()
    expect(journal.texts, equals: ["a", "b"])
    try await journal.load()
    expect(storage.readCount, equals: 1)
    #expect(self.server.requests.isEmpty)
  }

  @Test func `Loading throws the error of the storage, and can be tried again`() async throws {
    let storage = TestStorage(reads: false)
    storage.failToRead(true)
    storage.reading.open()
    let journal = Program(storage).makeJournal()
    await #expect(throws: Broken.self) { try await journal.load() }
    storage.failToRead(false)
    try await journal.load()
  }

  @Test func `Restoring a client reads its journal`() async throws {
    let storage = TestStorage(reads: false)
    try await leaveCalls(["a", "b"], in: storage.base)
    let program = Program(storage)
    let journal = program.makeJournal()
    storage.reading.open()
    await program.client.restore()
    expect(journal.texts, equals: ["a", "b"])
    #expect(self.server.requests.isEmpty)
  }

  @Test func `A program that starts offline is not blocked by resuming`() async throws {
    let storage = InMemoryStorage()
    try await leaveCalls(["a", "b"], in: storage)
    let network = NetworkSwitch()
    let journal = Program(storage).makeJournal()
    journal.register(Send(server: self.server).waits(until: network).scope("s").journaled(as: "send"), as: "send")
    let resumption = await journal.resume()
    expect(journal.statuses, equals: [.running, .waiting])
    network.turnOn()
    await resumption.settled()
    expect(self.server.done, equals: ["a", "b"])
  }

  @Test func `A second resumption waits for the calls of the first`() async throws {
    let storage = InMemoryStorage()
    try await leaveCalls(["a"], in: storage)
    let journal = Program(storage).makeJournal()
    journal.register(self.send.scope("s").journaled(as: "send"), as: "send")
    let first = await journal.resume()
    let run = try await self.script.next()
    let second = await journal.resume()
    let log = Log<String>()
    let waits = [first, second].map { resumption in
      Task.immediate {
        await resumption.settled()
        log.append(journal.entries.isEmpty ? "sent" : "early")
      }
    }
    #expect(log.all.isEmpty)
    run.succeed("ok")
    for wait in waits { await wait.value }
    expect(log.all, equals: ["sent", "sent"])
    expect(self.server.requests.count, equals: 1)
  }

  @Test func `Cancelling a wait ends it at once, and the calls are still made`() async throws {
    let storage = InMemoryStorage()
    try await leaveCalls(["a"], in: storage)
    let journal = Program(storage).makeJournal()
    journal.register(self.send.scope("s").journaled(as: "send"), as: "send")
    let resumption = await journal.resume()
    let run = try await self.script.next()
    let wait = Task.immediate { await resumption.settled() }
    wait.cancel()
    await wait.value
    run.succeed("ok")
    await resumption.settled()
    #expect(journal.entries.isEmpty)
  }

  @Test(arguments: [1, 3, 8]) func `Calls without a scope are made as many at once as the journal says`(
    limit: Int
  ) async throws {
    let storage = InMemoryStorage()
    try await leaveCalls((0..<9).map { "\($0)" }, in: storage, scope: nil)
    let program = Program(storage)
    let journal = MutationJournal(storage: storage, maximumConcurrentCalls: limit)
    program.client.journal = journal
    journal.register(self.send.journaled(as: "send"), as: "send")
    let resumption = await journal.resume()
    for number in 0..<9 {
      let run = try await self.script.next()
      #expect(self.script.activeRunCount <= limit)
      #expect(journal.statuses.count { $0 == .running } <= limit)
      #expect(self.server.done.count >= min(number + 1, limit))
      run.succeed("ok")
    }
    await resumption.settled()
    expect(self.server.done.count, equals: 9)
    #expect(journal.entries.isEmpty)
  }

  @Test func `A thousand calls of a scope are made one after the other, without a task for each`() async throws {
    let count = 1_000
    let storage = try await storage(withCalls: count, scope: "s")
    let journal = Program(storage).makeJournal()
    journal.register(Send(server: self.server).scope("s").journaled(as: "send"), as: "send")
    await journal.resume().settled()
    expect(self.server.requests.map(\.key), equals: (1...count).map { "k\($0)" })
    #expect(try await storage.keys().isEmpty)
  }

  @Test func `A number of calls at once below 1 is reported`() {
    expectWarning(.invalidArgument) { _ = MutationJournal(storage: InMemoryStorage(), maximumConcurrentCalls: 0) }
  }

  @Test func `A caller whose scope is blocked is notified, and its entry says so`() async throws {
    let notices = NoticeLog()
    let program = Program()
    let journal = program.makeJournal()
    let mutation = self.send.scope("s").journaled(as: "send", failsForGood: .where { _ in false })
      .onNotice { notice, context in notices.receive(notice, in: context) }
    journal.register(mutation, as: "send")
    let observed = program.client.store(for: mutation)
    let first = Task.immediate { try await observed.mutate(with: Note(id: 1, text: "a")) }
    let run = try await self.script.next()
    let second = Task.immediate { try await observed.mutate(with: Note(id: 1, text: "b")) }
    #expect(!notices.all.contains { $0.name == .journalBlocked })
    expect(journal.statuses, equals: [.running, .waiting])
    run.fail(Refused())
    await #expect(throws: Refused()) { try await first.value }
    expect(notices.all.count { $0.name == .journalBlocked }, equals: 1)
    expect(journal.statuses, equals: [.waiting, .blocked])
    // One that comes later learns it at once.
    let third = Task.immediate { try await observed.mutate(with: Note(id: 1, text: "c")) }
    expect(notices.all.count { $0.name == .journalBlocked }, equals: 2)
    expect(journal.statuses, equals: [.waiting, .blocked, .blocked])
    await journal.resume()
    expect(journal.statuses, equals: [.running, .waiting, .waiting])
    for _ in 0..<3 { try await self.script.next().succeed("ok") }
    _ = try await (second.value, third.value)
    #expect(journal.entries.isEmpty)
  }

  @Test func `The update of a cancelled call stays until the call has ended`() async throws {
    try await self.checkUpdate(showing: "server+a") { journal, script in
      script.enqueue(.value("ok"))
      await journal.resume().settled()
    }
  }

  @Test func `The update of a cancelled call goes when the call is removed`() async throws {
    try await self.checkUpdate(showing: "server") { journal, _ in #expect(await journal.remove("k1")) }
  }

  @Test func `The update of a cancelled call goes when the call becomes a dead letter`() async throws {
    try await self.checkUpdate(showing: "server") { journal, script in
      script.enqueue(.error(Refused()))
      await expectWarning(.journalCallFailed) {
        await expectWarning(.journalDeadLetter) { await journal.resume().settled() }
      }
    }
  }

  private func checkUpdate(
    showing text: String,
    after end: (MutationJournal, Script) async -> Void
  ) async throws {
    let program = Program()
    let journal = program.makeJournal(attemptsBeforeDeadLetter: 1)
    let mutation = self.send.scope("s").journaled(as: "send")
      .optimistic(on: ["note"], of: TextNoteState.self) { text, note in text = "\(text ?? "")+\(note.text)" }
    journal.register(mutation, as: "send")
    let note = program.client.store(for: Script().query(path: ["note"]).stale(after: .seconds(60)))
    note.currentValue = "server"
    let store = program.client.store(for: mutation)
    let call = Task.immediate { try await store.mutate(with: Note(id: 1, text: "a")) }
    _ = try await self.script.next()
    call.cancel()
    _ = await call.result
    expect(journal.texts, equals: ["a"])
    expect(note.currentValue, equals: "server+a")
    expect(note.stateWithoutLayers.currentValue, equals: "server")
    await end(journal, self.script)
    expect(note.currentValue, equals: text)
    expect(note.stateWithoutLayers.currentValue, equals: text)
  }
}
