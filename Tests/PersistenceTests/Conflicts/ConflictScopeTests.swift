import FoundationEssentials
import OperationCore
import OperationMutation
import OperationPausing
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// What waits behind a call in conflict, what it is merged with, and how it is stored.
@Suite(.bounded, .warningsAreIssues) struct ConflictScopeTests {
  private let server = VersionedServer()
  private let network = NetworkSwitch()

  init() {
    self.server.edit(1, "base")
    self.server.edit(1, "theirs")
    self.network.turnOn()
  }

  private func mutation(
    _ policy: JournalPolicy<Note> = .keepAll,
    holdingScope: Bool
  ) -> some MutationRequest<Note, String, any Error> {
    SaveNote(server: self.server).resolvesConflicts(of: NoteConflict.self) { _, _ in .ask(holdingScope: holdingScope) }
      .waits(until: self.network)
      .scope("s")
      .journaled(as: "save", policy: policy)
  }

  private func code(_ task: Task<String, any Error>) async -> JournalError.Code? {
    do { _ = try await task.value } catch { return (error as? JournalError)?.code }
    return nil
  }

  @Test func `Later calls of the scope go on, and one that is decided keeps its place before those that wait`()
    async throws
  {
    let program = Program()
    let journal = program.makeJournal()
    let mutation = self.mutation(holdingScope: false)
    journal.register(mutation, as: "save")
    let store = program.client.store(for: mutation)
    await expect(self.code(store.save("mine")), equals: .conflicted)
    try await expect(store.save("other", basedOn: nil, id: 2).value, equals: "1")
    self.network.turnOff()
    let waiting = ["c", "d"].map { store.save($0, basedOn: nil, id: 3) }
    expect(journal.statuses, equals: [.conflicted, .running, .waiting])
    let conflict = try #require(journal.conflicts(of: mutation, as: ServerNote.self).first)
    #expect(try await journal.resolve(conflict, with: .retry(with: Note(id: 1, text: "both"), basedOn: "2")))
    expect(journal.statuses, equals: [.waiting, .running, .waiting])
    self.network.turnOn()
    for call in waiting { _ = try await call.value }
    try await journal.entries(count: 0)
    expect(self.server.requests.map(\.text), equals: ["mine", "other", "c", "both", "d"])
  }

  @Test(arguments: ["retry", "discard", "remove", "retry by hand"])
  func `A conflict that holds its scope is decided before later calls are made`(decision: String) async throws {
    let program = Program()
    let journal = program.makeJournal()
    let mutation = self.mutation(holdingScope: true)
    journal.register(mutation, as: "save")
    let store = program.client.store(for: mutation)
    self.network.turnOff()
    let first = store.save("mine")
    let later = ["b", "c"].map { store.save($0, basedOn: nil) }
    self.network.turnOn()
    await expect(self.code(first), equals: .conflicted)
    expect(journal.statuses, equals: [.conflicted, .blocked, .blocked])
    expect(store.state.journaledCalls.map(\.status), equals: [.conflicted, .blocked, .blocked])
    #expect(store.state.isPaused)
    // Another call of the scope waits, too, and nothing goes on by itself.
    let last = store.save("d", basedOn: nil)
    await journal.resume().settled()
    expect(journal.statuses, equals: [.conflicted, .blocked, .blocked, .blocked])
    expect(self.server.requests.count, equals: 1)
    let conflict = try #require(journal.conflicts(of: mutation, as: ServerNote.self).first)
    switch decision {
    case "retry":
      #expect(try await journal.resolve(conflict, with: .retry(with: Note(id: 1, text: "both"), basedOn: "2")))
    case "discard": #expect(try await journal.resolve(conflict, with: .discard))
    case "remove": #expect(await journal.remove(conflict.id))
    default:
      self.server.edit(1, "base")
      #expect(await journal.retry(conflict.id))
      expect(journal.statuses.first, equals: .conflicted)
      #expect(await journal.remove(conflict.id))
    }
    for call in later + [last] { _ = try await call.value }
    try await journal.entries(count: 0)
    let sent = self.server.requests.map(\.text).filter { $0 != "mine" }
    expect(sent, equals: (decision == "retry" ? ["both"] : []) + ["b", "c", "d"])
    #expect(!store.state.isPaused)
    #expect(try await program.storage.keys().isEmpty)
  }

  @Test func `A conflict holds its scope after a restart, and those behind it are made with the decision`()
    async throws
  {
    let storage = InMemoryStorage()
    let program = Program(storage)
    _ = program.makeJournal()
    let mutation = self.mutation(holdingScope: true)
    let store = program.client.store(for: mutation)
    await expect(self.code(store.save("mine")), equals: .conflicted)
    let later = store.save("b", basedOn: nil)
    let next = Program(InMemoryStorage(entries: try await storage.entries(withPrefix: "")))
    let journal = next.makeJournal(prefix: "l")
    journal.register(mutation, as: "save")
    await journal.resume().settled()
    expect(journal.statuses, equals: [.conflicted, .blocked])
    expect(self.server.requests.count, equals: 1)
    let conflict = try #require(journal.conflicts(of: mutation, as: ServerNote.self).first)
    #expect(try await journal.resolve(conflict, with: .retry(with: Note(id: 1, text: "both"), basedOn: "2")))
    try await journal.entries(count: 0)
    expect(self.server.requests.map(\.text), equals: ["mine", "both", "b"])
    later.cancel()
    _ = await later.result
  }

  // MARK: - Merging

  @Test(arguments: ["merge", "replace"]) func `A merged call is based on the version of the earlier one`(
    policy: String
  ) async throws {
    let program = Program()
    _ = program.makeJournal()
    let joining = JournalPolicy<Note>.merge(by: \.id) { Note(id: $1.id, text: $0.text + $1.text) }
    let mutation = self.mutation(policy == "merge" ? joining : .replacePending(by: \.id), holdingScope: false)
    let store = program.client.store(for: mutation)
    self.network.turnOff()
    let calls = [store.save("a", basedOn: "7"), store.save("b", basedOn: "2")]
    self.network.turnOn()
    if policy == "merge" {
      for call in calls { await expect(self.code(call), equals: .conflicted) }
      expect(self.server.requests.map(\.base), equals: ["7"])
    } else {
      for call in calls { try await expect(call.value, equals: "3") }
      expect(self.server.requests.map(\.base), equals: ["2"])
    }
  }

  @Test func `A call in conflict is not merged with a later one, also not when it is made again`() async throws {
    let program = Program()
    let journal = program.makeJournal()
    let joining = JournalPolicy<Note>.merge(by: \.id) { Note(id: $1.id, text: $0.text + $1.text) }
    let mutation = self.mutation(joining, holdingScope: false)
    journal.register(mutation, as: "save")
    let store = program.client.store(for: mutation)
    await expect(self.code(store.save("a")), equals: .conflicted)
    try await expect(store.save("b", basedOn: "2").value, equals: "3")
    self.network.turnOff()
    let conflict = try #require(journal.conflicts(of: mutation, as: ServerNote.self).first)
    #expect(try await journal.resolve(conflict, with: .retry(with: Note(id: 1, text: "A"), basedOn: "3")))
    let third = store.save("c", basedOn: "4")
    expect(journal.texts, equals: ["A", "c"])
    self.network.turnOn()
    try await expect(third.value, equals: "5")
    expect(self.server.requests.map(\.text), equals: ["a", "b", "A", "c"])
  }

  // MARK: - Time

  @Test func `A call in conflict does not expire, and has its time again after the decision`() async throws {
    let program = Program()
    let journal = program.makeJournal()
    let mutation = self.mutation(holdingScope: false).expires(after: .seconds(60))
    journal.register(mutation, as: "save")
    let store = program.client.store(for: mutation)
    await expect(self.code(store.save("mine")), equals: .conflicted)
    program.clock.advance(by: .seconds(100))
    expect(journal.statuses, equals: [.conflicted])
    self.network.turnOff()
    let conflict = try #require(journal.conflicts(of: mutation, as: ServerNote.self).first)
    #expect(try await journal.resolve(conflict, with: .retry(with: Note(id: 1, text: "both"), basedOn: "2")))
    program.clock.advance(by: .seconds(59))
    expect(journal.statuses, equals: [.running])
    self.network.turnOn()
    try await journal.entries(count: 0)
    expect(self.server[1]?.text, equals: "both")
  }

  // MARK: - What is stored

  @Test func `The stored form of a conflict is read by later versions, and earlier ones keep it aside`() async throws {
    // The form of the first version that has conflicts.
    let json =
      #"{"format":1,"id":"a","name":"save","scope":"ss/","acceptedAt":0,"attempts":1,"isSetAside":true,"#
      + #""arguments":"{\"id\":1,\"text\":\"mine\"}","failures":0,"isBegun":false,"aside":"conflicted","base":"1","#
      + #""revision":2,"current":"{\"text\":\"theirs\",\"version\":2}","holdsScope":true}"#
    let storage = InMemoryStorage(
      entries: [StorageEntry(key: "journal/00000000000000000001-a", value: Array(json.utf8))]
    )
    let program = Program(storage)
    let journal = program.makeJournal()
    let mutation = self.mutation(holdingScope: true)
    journal.register(mutation, as: "save")
    let store = program.client.store(for: mutation)
    let conflict = try #require(journal.conflicts(of: mutation, as: ServerNote.self).first)
    expect(conflict.current, equals: ServerNote(text: "theirs", version: 2))
    expect(conflict.call.baseVersion, equals: "1")
    expect(conflict.call.retryCount, equals: 2)
    let later = store.save("b", basedOn: nil)
    expect(journal.statuses, equals: [.conflicted, .blocked])
    #expect(try await journal.resolve(conflict, with: .retry(with: Note(id: 1, text: "both"), basedOn: "2")))
    _ = try await later.value
    expect(self.server.requests.map(\.key), equals: ["a~3", "k1"])
  }

  @Test func `What a later version of the library has stored with a call is written again with it`() async throws {
    let later = #","later":{"a":[1,-2.5,"x",true,null],"b":{}},"laterText":"y""#
    let json =
      #"{"format":1,"id":"a","name":"save","scope":"ss/","acceptedAt":0,"attempts":0,"isSetAside":false,"#
      + #""arguments":"{\"id\":1,\"text\":\"mine\"}","base":"1"\#(later)}"#
    let key = "journal/00000000000000000001-a"
    let storage = InMemoryStorage(entries: [StorageEntry(key: key, value: Array(json.utf8))])
    let journal = Program(storage).makeJournal()
    let mutation = self.mutation(holdingScope: false)
    journal.register(mutation, as: "save")
    await journal.resume().settled()
    expect(journal.statuses, equals: [.conflicted])
    struct Later: Decodable, Equatable {
      struct Content: Decodable, Equatable {
        let b: [String: Int]
      }

      let aside: String?
      let later: Content
      let laterText: String
    }
    let written = try #require(try await storage.entries(withPrefix: key).first?.value)
    let read = try JSONDecoder().decode(Later.self, from: Data(written))
    expect(read, equals: Later(aside: "conflicted", later: Later.Content(b: [:]), laterText: "y"))
    #expect(String(decoding: written, as: UTF8.self).contains(#"[1,-2.5,"x",true,null]"#))
  }

  @Test func `What the server has in a form that is not known any more is left to a retry`() async throws {
    let program = Program()
    let journal = program.makeJournal()
    let mutation = self.mutation(holdingScope: false)
    journal.register(mutation, as: "save")
    await expect(self.code(program.client.store(for: mutation).save("mine")), equals: .conflicted)
    #expect(journal.conflicts(of: mutation, as: Int.self).isEmpty)
    expect(journal.conflicts(of: mutation, as: ServerNote.self).count, equals: 1)
    self.server.edit(1, "newer")
    #expect(await journal.retry("k1"))
    expect(journal.conflicts(of: mutation, as: ServerNote.self).map(\.current.text), equals: ["newer"])
  }

  @Test func `A conflict that cannot be stored is kept in memory, and found again after a restart`() async throws {
    let storage = TestStorage()
    let program = Program(storage)
    let journal = program.makeJournal()
    let mutation = self.mutation(holdingScope: false)
    let store = program.client.store(for: mutation)
    self.network.turnOff()
    let warnings = Log<OperationWarning.Code>()
    let reporter: OperationWarning.Reporter = { warnings.append($0.code) }
    await OperationWarning.withReporter(reporter) {
      let call = store.save("mine")
      storage.failToWrite(true)
      self.network.turnOn()
      await expect(self.code(call), equals: .conflicted)
    }
    // The count of the attempt, and the conflict.
    expect(warnings.all, equals: [.storageFailed, .storageFailed])
    expect(journal.statuses, equals: [.conflicted])
    let next = Program(storage.base)
    let second = next.makeJournal(prefix: "l")
    second.register(mutation, as: "save")
    expect(second.statuses, equals: [.waiting])
    await second.resume().settled()
    expect(second.statuses, equals: [.conflicted])
    expect(self.server.requests.map(\.key), equals: ["k1", "k1"])
  }

  @Test func `An entry that is removed while its conflict is being stored does not hold its scope`() async throws {
    let storage = HeldStorage()
    let program = Program(storage)
    let journal = program.makeJournal()
    let store = program.client.store(for: self.mutation(holdingScope: false))
    self.network.turnOff()
    let first = store.save("mine")
    let second = store.save("b", basedOn: nil)
    storage.door.close()
    self.network.turnOn()
    // The count of the attempt is written, and then the conflict.
    try await storage.door.arrival()
    storage.door.letPass()
    try await journal.shows([.conflicted, .waiting])
    let removal = Task.immediate { await journal.remove("k1") }
    storage.door.open()
    #expect(await removal.value)
    await expect(self.code(first), equals: .conflicted)
    try await expect(second.value, equals: "3")
    #expect(try await storage.base.keys().isEmpty)
  }

  @Test func `The observers hear of a conflict and of its end`() async throws {
    let program = Program()
    let journal = program.makeJournal()
    let log = NoticeLog()
    program.client.defaultContext.operationNoticeObservers.append(log)
    let mutation = self.mutation(holdingScope: false)
    await expect(self.code(program.client.store(for: mutation).save("mine")), equals: .conflicted)
    let conflict = try #require(journal.conflicts(of: mutation, as: ServerNote.self).first)
    #expect(try await journal.resolve(conflict, with: .discard))
    let known: Set<OperationNotice.Name> = [
      .journalAccepted, .journalSent, .journalFailed, .journalDeadLetter, .journalConflicted, .journalRemoved,
    ]
    expect(log.names.filter { known.contains($0) }, equals: [.journalAccepted, .journalConflicted, .journalRemoved])
    expect(log.all.last { $0.name == .journalPending }?.level, equals: 0)
  }
}
