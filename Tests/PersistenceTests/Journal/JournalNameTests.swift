import OperationCore
import OperationMutation
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// The names of mutations, those that they had before, and the keys of calls.
@Suite(.bounded, .warningsAreIssues) struct JournalNameTests {
  private let server = Server()

  @Test(arguments: ["s", nil])
  func `Calls of the old name of a renamed mutation are made, with their keys and in order`(
    scope: String?
  ) async throws {
    let storage = InMemoryStorage()
    try await leaveCalls(["a"], in: storage, scope: scope, name: "old")
    try await leaveCalls(["b"], in: storage, scope: scope, name: "new")
    let program = Program(storage)
    let journal = program.makeJournal()
    func register(_ mutation: some MutationRequest<Note, String, any Error>) {
      journal.register(mutation, as: "new")
      journal.register(mutation, as: "old")
    }
    let send = Send(server: self.server)
    if let scope { register(send.scope(scope).journaled(as: "new")) } else { register(send.journaled(as: "new")) }
    await journal.resume().settled()
    expect(self.server.requests.map(\.key), equals: ["old1", "old2"])
    expect(self.server.done, equals: ["a", "b"])
    #expect(journal.entries.isEmpty)
    #expect(try await storage.keys().isEmpty)
  }

  @Test func `A mutation is known by its own name, too`() async throws {
    let storage = InMemoryStorage()
    try await leaveCalls(["a"], in: storage, name: "new")
    let journal = Program(storage).makeJournal()
    journal.register(Send(server: self.server).scope("s").journaled(as: "new").idempotent(), as: "old")
    await journal.resume().settled()
    expect(self.server.done, equals: ["a"])
  }

  @Test func `Two mutations with one name are reported, the same one twice is not`() async throws {
    let journal = Program().makeJournal()
    journal.register(Send(server: self.server).journaled(as: "send"), as: "send")
    journal.register(Send(server: self.server).scope("s").journaled(as: "send"), as: "send")
    expectWarning(.journalNameTaken) {
      journal.register(MutationOperation("other") { (_: Note, _) in }.journaled(as: "send"), as: "send")
    }
  }

  @Test func `A journaled call inside a mutation without a journal that is made again is a new call`() async throws {
    let storage = InMemoryStorage()
    try await leaveCalls(["outer"], in: storage, name: "outer")
    let program = Program(storage)
    let journal = program.makeJournal()
    let inner = program.client.store(for: Send(server: self.server).journaled(as: "inner"))
    let outer = MutationOperation("outer") { (_: Note, context) in
      _ = try await inner.mutate(with: Note(id: 1, text: "inner"), using: context.withoutKey)
    }
    journal.register(outer, as: "outer")
    await journal.resume().settled()
    expect(self.server.requests.map(\.key), equals: ["k1"])
    #expect(journal.entries.isEmpty)
  }

  @Test func `The key of a call that has not ended is refused, and free when it has ended`() async throws {
    let program = Program()
    let journal = program.makeJournal()
    let script = Script()
    let store = program.client.store(for: Send(server: self.server, script: script).journaled(as: "send"))
    var context = OperationContext()
    context.operationIdempotencyKey = "mine"
    let call = Task.immediate { [context] in try await store.mutate(with: Note(id: 1, text: "a"), using: context) }
    let run = try await script.next()
    await #expect {
      try await store.mutate(with: Note(id: 1, text: "b"), using: context)
    } throws: {
      ($0 as? JournalError)?.code == .duplicateKey
    }
    expect(journal.texts, equals: ["a"])
    run.succeed("ok")
    _ = try await call.value
    script.enqueue(.value("ok"))
    try await store.mutate(with: Note(id: 1, text: "b"), using: context)
    #expect(journal.entries.isEmpty)
    #expect(try await program.storage.keys().isEmpty)
  }

  @Test func `The key of a call that is being read is refused`() async throws {
    let storage = TestStorage(reads: false)
    try await leaveCalls(["a"], in: storage.base)
    let program = Program(storage)
    let journal = program.makeJournal()
    let store = program.client.store(for: Send(server: self.server).journaled(as: "send"))
    var context = OperationContext()
    context.operationIdempotencyKey = "old1"
    let call = Task.immediate { [context] in try await store.mutate(with: Note(id: 1, text: "b"), using: context) }
    storage.reading.open()
    await #expect { try await call.value } throws: { ($0 as? JournalError)?.code == .duplicateKey }
    expect(journal.texts, equals: ["a"])
    #expect(await journal.remove("old1"))
    #expect(try await storage.keys().isEmpty)
  }

  @Test(arguments: [true, false]) func `A made key that an earlier call has is made again`(isRead: Bool) async throws {
    let storage = TestStorage(try await storage(withCalls: 3), reads: isRead)
    let program = Program(storage)
    let journal = program.makeJournal()
    let store = program.client.store(for: Send(server: self.server).journaled(as: "send"))
    let call = Task.immediate { try await store.mutate(with: Note(id: 1, text: "b")) }
    storage.reading.open()
    _ = try await call.value
    expect(self.server.requests.map(\.key), equals: ["k4"])
    expect(journal.entries.map(\.id), equals: ["k1", "k2", "k3"])
  }

  @Test func `Stored entries with one key are both shown, and each can be removed`() async throws {
    let storage = InMemoryStorage()
    try await leaveCalls(["a"], in: storage)
    let entry = try #require(try await storage.entries(withPrefix: "").first)
    try await storage.apply([.put(key: "journal/00000000000000000009-old1", value: entry.value)])
    let journal = Program(storage).makeJournal()
    expect(journal.entries.map(\.id), equals: ["old1", "journal/00000000000000000009-old1"])
    for id in journal.entries.map(\.id) { #expect(await journal.remove(id)) }
    #expect(journal.entries.isEmpty)
    #expect(try await storage.keys().isEmpty)
  }
}

extension OperationContext {
  fileprivate var withoutKey: Self {
    var context = self
    context.operationIdempotencyKey = nil
    return context
  }
}
