import FoundationEssentials
import OperationCore
import OperationMutation
import OperationPausing
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// Values and calls of other versions of a program.
@Suite(.bounded, .warningsAreIssues) struct MigrationTests {
  private struct Old: Codable, Hashable, Sendable {
    var name: String
  }

  private struct New: Codable, Hashable, Sendable {
    var name: String
    var length: Int
  }

  private struct OldNote: Decodable {
    let text: String
  }

  private typealias NewScript = OperationScript<New, any Error>

  private let server = Server()

  /// A storage with the values of the first version.
  private func storage(named name: String = "note") async throws -> InMemoryStorage {
    let program = Program()
    let query = OperationScript<Old, any Error>().query(path: ["note"]).persisted(as: name)
    program.client.store(for: query).currentValue = Old(name: "first")
    #expect(await program.client.persistence.flush())
    return InMemoryStorage(entries: try await program.storage.entries(withPrefix: ""))
  }

  private func newQuery(named name: String = "note", aliases: [String] = []) -> some QueryRequest<New, any Error> {
    NewScript().query(path: ["note"]).stale(after: .seconds(60))
      .persisted(
        as: name,
        aliases: aliases,
        version: 2,
        migrate: { bytes, version in
          guard version == 1 else { throw Broken() }
          return try JSONDecoder().decode(StoredValue<Old>.self, from: Data(bytes)).map { old in
            New(name: old.name, length: old.name.count)
          }
        }
      )
  }

  // MARK: - Values

  @Test func `A value of an earlier version is migrated, with its date, and stored in the new form`() async throws {
    let storage = try await self.storage()
    let program = Program(storage)
    let store = program.client.store(for: self.newQuery())
    expect(store.currentValue, equals: New(name: "first", length: 5))
    expect(store.state.valueUpdateCount, equals: 1)
    #expect(!store.isStale)
    #expect(await program.client.persistence.flush())
    let entry = try #require(try await storage.entries(withPrefix: "").first)
    #expect(String(decoding: entry.value, as: UTF8.self).hasPrefix("value1 2 0\n"))
    expect(program.restarted().client.store(for: self.newQuery()).currentValue, equals: New(name: "first", length: 5))
  }

  @Test func `A value that cannot be migrated is dropped with a report`() async throws {
    let storage = try await self.storage()
    let program = Program(storage)
    let query = NewScript().query(path: ["note"]).persisted(as: "note", version: 2, migrate: { _, _ in throw Broken() })
    expectWarning(.storedValueDropped) { expect(program.client.store(for: query).currentValue, equals: nil) }
    #expect(await program.client.persistence.flush())
    #expect(try await storage.keys().isEmpty)
  }

  @Test func `A value of a later version is kept by an older program, until a newer one comes`() async throws {
    let storage = InMemoryStorage()
    let newer = Program(storage)
    newer.client.store(for: self.newQuery()).currentValue = New(name: "new", length: 3)
    #expect(await newer.client.persistence.flush())
    let bytes = try await storage.entries(withPrefix: "").map(\.value)
    let older = Program(storage)
    let query = OperationScript<Old, any Error>().query(path: ["note"]).persisted(as: "note")
    let store = expectWarning(.storedVersionUnknown) { older.client.store(for: query) }
    expect(store.currentValue, equals: nil)
    store.currentValue = Old(name: "old")
    store.resetState()
    store.currentValue = Old(name: "older")
    #expect(await older.client.persistence.flush())
    try await expect(storage.entries(withPrefix: "").map(\.value), equals: bytes)
    expect(Program(storage).client.store(for: self.newQuery()).currentValue, equals: New(name: "new", length: 3))
    // Who signs out removes it.
    try await older.client.persistence.removeAll()
    #expect(try await storage.keys().isEmpty)
    store.currentValue = Old(name: "another user")
    #expect(await older.client.persistence.flush())
    try await expect(storage.keys().count, equals: 1)
  }

  @Test(arguments: [false, true]) func `A value with an earlier name is found, and written with the new one`(
    isSlow: Bool
  ) async throws {
    let base = try await self.storage(named: "post")
    let program = Program(isSlow ? TestStorage(base) : base)
    let store = program.client.store(for: self.newQuery(aliases: ["memo", "post"]))
    expect(store.currentValue, equals: New(name: "first", length: 5))
    #expect(await program.client.persistence.flush())
    // The old entry stays for a program that knows it.
    try await expect(base.keys().count, equals: 2)
    expect(Program(base).client.store(for: self.newQuery()).currentValue, equals: New(name: "first", length: 5))
    store.resetState()
    #expect(await program.client.persistence.flush())
    #expect(try await base.keys().isEmpty)
  }

  // MARK: - Calls

  private func send(
    _ version: Int,
    policy: JournalPolicy<Note> = .keepAll
  ) -> some MutationRequest<
    Note, String, any Error
  > {
    Send(server: self.server).scope("s")
      .journaled(
        as: "send-note",
        aliases: ["send"],
        version: version,
        policy: policy,
        migrate: { bytes, version in
          guard version == 1 else { throw Broken() }
          return Note(id: 7, text: try JSONDecoder().decode(OldNote.self, from: Data(bytes)).text + "!")
        }
      )
  }

  @Test func `Arguments of an earlier version, with an earlier name, are migrated`() async throws {
    let storage = InMemoryStorage()
    try await leaveCalls(["a", "b"], in: storage)
    let journal = Program(storage).makeJournal()
    journal.register(self.send(2), as: "send-note")
    await journal.resume().settled()
    expect(self.server.requests.map(\.text), equals: ["a!", "b!"])
    expect(self.server.requests.map(\.key), equals: ["old1", "old2"])
    #expect(journal.entries.isEmpty)
  }

  @Test func `Arguments of a later version are kept, with those behind them, until a program knows them`() async throws
  {
    let storage = InMemoryStorage()
    let newer = Program(storage)
    let journal = newer.makeJournal()
    let network = NetworkSwitch()
    let waiting = Send(server: self.server).waits(until: network).scope("s").journaled(as: "send-note", version: 3)
    let store = newer.client.store(for: waiting)
    let call = Task.immediate { try await store.mutate(with: Note(id: 1, text: "new")) }
    expect(journal.texts, equals: ["new"])
    let entries = try await storage.entries(withPrefix: "")
    call.cancel()
    _ = await call.result
    let older = Program(InMemoryStorage(entries: entries))
    let kept = older.makeJournal()
    kept.register(self.send(2), as: "send-note")
    await expectWarning(.journalVersionUnknown) { await kept.resume().settled() }
    #expect(self.server.requests.isEmpty)
    expect(kept.statuses, equals: [.waiting])
    try await expect(older.storage.entries(withPrefix: ""), equals: entries)
    let again = Program(older.storage).makeJournal()
    again.register(Send(server: self.server).scope("s").journaled(as: "send-note", version: 3), as: "send-note")
    await again.resume().settled()
    expect(self.server.done, equals: ["new"])
  }

  @Test func `Arguments that cannot be migrated become a dead letter`() async throws {
    let storage = InMemoryStorage()
    try await leaveCalls(["a"], in: storage)
    let journal = Program(storage).makeJournal()
    journal.register(Send(server: self.server).scope("s").journaled(as: "send", version: 2), as: "send")
    await expectWarning(.journalDeadLetter) { await journal.resume().settled() }
    expect(journal.statuses, equals: [.deadLetter])
    #expect(self.server.requests.isEmpty)
    // A program that migrates them can still make the call.
    let later = Program(storage).makeJournal()
    later.register(self.send(2), as: "send-note")
    #expect(await later.retry("old1"))
    expect(self.server.requests.map(\.text), equals: ["a!"])
  }

  @Test func `What earlier versions of the library have stored is read`() async throws {
    let entries = [
      "value/stext/i1/=text=":
        """
      value1 1 0
      {"hasValue":true,"value":"stored","valueUpdateCount":3,"valueLastUpdatedAt":-10,"errorUpdateCount":0}
      """,
      // Before failures were counted apart from attempts.
      "journal/00000000000000000001-a":
        #"{"format":1,"id":"a","name":"send","scope":"ss/","acceptedAt":0,"attempts":1,"isSetAside":false,"#
        + #""arguments":"{\"id\":1,\"text\":\"a\"}"}"#,
      "journal/00000000000000000002-b":
        #"{"format":1,"id":"b","name":"send","scope":"ss/","acceptedAt":0,"attempts":9,"isSetAside":true,"#
        + #""arguments":"{\"id\":1,\"text\":\"b\"}","failures":5,"isBegun":false,"owner":"o"}"#,
    ]
    let storage = InMemoryStorage(entries: entries.map { StorageEntry(key: $0.key, value: Array($0.value.utf8)) })
    let program = Program(storage)
    let store = program.store()
    expect(store.currentValue, equals: "stored")
    expect(store.state.valueUpdateCount, equals: 3)
    let journal = program.makeJournal()
    expect(journal.statuses, equals: [.waiting, .deadLetter])
    expect(journal.entries.map(\.attempts), equals: [1, 9])
    journal.register(Send(server: self.server).scope("s").journaled(as: "send"), as: "send")
    await journal.resume().settled()
    expect(self.server.done, equals: ["a"])
    expect(journal.texts, equals: ["b"])
  }
}
