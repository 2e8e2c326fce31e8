import FoundationEssentials
import OperationCore
import OperationMutation
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct JournalTests {
  private let server = Server()
  private let script = Script()

  private func send(_ script: Script? = nil) -> Send { Send(server: self.server, script: script ?? self.script) }

  @Test func `A call is stored before it runs, and removed when it has succeeded`() async throws {
    let program = Program()
    let journal = program.makeJournal()
    let store = program.client.store(for: self.send().journaled(as: "send"))
    let call = Task.immediate { try await store.mutate(with: Note(id: 1, text: "a")) }
    let run = try await self.script.next()
    try await expect(program.storage.keys(), equals: ["journal/00000000000000000001-k1"])
    expect(run.context.operationIdempotencyKey, equals: "k1")
    let entry = try #require(program.client.journal.entries.first)
    expect(entry.id, equals: "k1")
    expect(entry.name, equals: "send")
    expect(entry.scope, equals: nil)
    expect(entry.attempts, equals: 1)
    expect(entry.status, equals: .running)
    expect(entry.acceptedAt, equals: Date(timeIntervalSinceReferenceDate: 0))
    expect(journal.texts, equals: ["a"])
    run.succeed("done")
    try await expect(call.value, equals: "done")
    #expect(journal.entries.isEmpty)
    #expect(try await program.storage.keys().isEmpty)
  }

  @Test func `An entry prints what it is, with its scope as it was written`() async throws {
    let program = Program()
    let journal = program.makeJournal()
    let store = program.client.store(for: self.send().scope("my notes").journaled(as: "send"))
    let call = Task.immediate { try await store.mutate(with: Note(id: 1, text: "a")) }
    let run = try await self.script.next()
    let entry = try #require(journal.entries.first)
    expect(entry.scope, equals: "my notes")
    expect(
      entry.description,
      equals: """
        JournalEntry(send, running, scope my notes, 1 attempt, accepted 2001-01-01 00:00:00 +0000, 19 bytes of arguments, \
        key k1)
        """
    )
    run.succeed("done")
    _ = try await call.value
  }

  @Test func `A call is an entry only when it is stored`() async throws {
    let storage = TestStorage(writes: false)
    let program = Program(storage)
    let journal = program.makeJournal()
    let store = program.client.store(for: self.send().journaled(as: "send"))
    let call = Task.immediate { try await store.mutate(with: Note(id: 1, text: "a")) }
    try await storage.writing.arrivals(count: 1)
    #expect(journal.entries.isEmpty)
    storage.writing.open()
    let run = try await self.script.next()
    expect(journal.entries.count, equals: 1)
    run.succeed("ok")
    _ = try await call.value
    #expect(journal.entries.isEmpty)
  }

  @Test func `A call that cannot be stored does not run`() async throws {
    let storage = TestStorage()
    storage.failToWrite(true)
    let program = Program(storage)
    let journal = program.makeJournal()
    let store = program.client.store(for: self.send().journaled(as: "send").tryingAgain())
    await #expect {
      try await store.mutate(with: Note(id: 1, text: "a"))
    } throws: {
      ($0 as? JournalError)?.code == .notAccepted && ($0 as? JournalError)?.cause is Broken
    }
    #expect(self.server.requests.isEmpty)
    #expect(journal.entries.isEmpty)
  }

  @Test func `A failure is thrown to the caller, and the entry is removed`() async throws {
    let program = Program()
    let journal = program.makeJournal()
    self.script.enqueue(.error(Refused()))
    let store = program.client.store(for: self.send().journaled(as: "send"))
    await #expect(throws: Refused()) { try await store.mutate(with: Note(id: 1, text: "a")) }
    #expect(journal.entries.isEmpty)
    #expect(try await program.storage.keys().isEmpty)
  }

  @Test func `A failure that is not final leaves the entry, and blocks its scope until it is resumed`()
    async throws
  {
    let program = Program()
    let journal = program.makeJournal()
    let mutation = self.send().scope("s").journaled(as: "send", failsForGood: .where { ($0 as? Refused)?.code == 400 })
    journal.register(mutation, as: "send")
    let store = program.client.store(for: mutation)
    self.script.enqueue(.error(Refused(code: 503)))
    await #expect(throws: Refused(code: 503)) { try await store.mutate(with: Note(id: 1, text: "a")) }
    expect(journal.statuses, equals: [.waiting])
    expect(journal.entries.first?.lastFailure, equals: "Refused(code: 503)")
    let later = Task.immediate { try await store.mutate(with: Note(id: 1, text: "b")) }
    expect(journal.texts, equals: ["a", "b"])
    expect(self.server.done, equals: ["a"])
    self.script.enqueue(.error(Refused(code: 400)), .value("ok"))
    await journal.resume().settled()
    try await expect(later.value, equals: "ok")
    expect(self.server.requests.map(\.text), equals: ["a", "a", "b"])
    #expect(journal.entries.isEmpty)
  }

  @Test func `All attempts have one entry and one key, inside of retries and outside`() async throws {
    let program = Program()
    let journal = program.makeJournal()
    self.script.enqueue(.error(Refused()), .error(Refused()), .error(Refused()), .value("ok"))
    let store = program.client.store(for: self.send().tryingAgain().journaled(as: "send").tryingAgain())
    try await expect(store.mutate(with: Note(id: 1, text: "a")), equals: "ok")
    expect(self.server.requests.map(\.key), equals: ["k1", "k1", "k1", "k1"])
    expect(self.server.done, equals: ["a"])
    #expect(journal.entries.isEmpty)
  }

  @Test func `A key that the caller chooses is used`() async throws {
    let program = Program()
    _ = program.makeJournal()
    var context = OperationContext()
    context.operationIdempotencyKey = "mine/1 ü"
    let store = program.client.store(for: self.send().journaled(as: "send"))
    let call = Task.immediate { [context] in try await store.mutate(with: Note(id: 1, text: "a"), using: context) }
    let run = try await self.script.next()
    try await expect(program.storage.keys(), equals: ["journal/00000000000000000001-mine%2F1%20%C3%BC"])
    run.succeed("ok")
    _ = try await call.value
    expect(self.server.requests.map(\.key), equals: ["mine/1 ü"])
  }

  @Test func `Calls of a scope run in the order in which they were made, others concurrently`() async throws {
    let program = Program()
    let journal = program.makeJournal()
    let store = program.client.store(for: self.send().scope("s").journaled(as: "send"))
    let free = program.client.store(
      for: Send(server: self.server, script: self.script, path: ["free"]).journaled(as: "free")
    )
    let calls = (0..<3).map { number in
      Task.immediate { try await store.mutate(with: Note(id: number, text: "\(number)")) }
    }
    let other = Task.immediate { try await free.mutate(with: Note(id: 9, text: "free")) }
    var runs = [try await self.script.next(), try await self.script.next()]
    expect(self.server.done, equals: ["0", "free"])
    expect(journal.statuses, equals: [.running, .waiting, .waiting, .running])
    try await expect(program.storage.keys().count, equals: 4)
    runs[0].succeed("ok")
    runs.append(try await self.script.next())
    runs[2].fail(Refused())
    runs.append(try await self.script.next())
    runs[3].succeed("ok")
    runs[1].succeed("ok")
    for call in calls { _ = try? await call.value }
    _ = try await other.value
    expect(self.server.done, equals: ["0", "free", "1", "2"])
    #expect(journal.entries.isEmpty)
  }

  @Test func `A call inside another one of its scope is part of that one, with a key of its own`() async throws {
    let program = Program()
    let journal = program.makeJournal()
    let inner = program.client.store(
      for: Send(server: self.server, path: ["inner"]).scope("s").journaled(as: "inner")
    )
    let outer = Nested { context in
      _ = try await inner.mutate(with: Note(id: 1, text: "inner"), using: context)
    }
    let store = program.client.store(for: outer.scope("s").journaled(as: "outer"))
    try await store.mutate(with: Note(id: 1, text: "outer"))
    expect(self.server.requests.map(\.key), equals: ["k2"])
    #expect(journal.entries.isEmpty)
  }

  @Test func `A task that a call has started and that outlives the call has no part in its turn`() async throws {
    let program = Program()
    let journal = program.makeJournal()
    let gate = Gate()
    let inner = program.client.store(for: self.send().scope("s").journaled(as: "send"))
    let started = Box<Task<Void, any Error>?>(nil)
    let outer = Nested { _ in
      started.value = Task {
        try await gate.wait()
        _ = try await inner.mutate(with: Note(id: 1, text: "late"))
      }
    }
    try await program.client.store(for: outer.scope("s").journaled(as: "outer")).mutate(
      with: Note(id: 1, text: "outer")
    )
    let first = Task.immediate { try await inner.mutate(with: Note(id: 1, text: "first")) }
    let run = try await self.script.next()
    gate.open()
    try await journal.entries(count: 2)
    expect(self.server.done, equals: ["first"])
    run.succeed("ok")
    try await self.script.next().succeed("ok")
    _ = try await first.value
    try await started.value?.value
    expect(self.server.done, equals: ["first", "late"])
  }

  @Test func `A cancelled call stays in the journal, and is made before later ones`() async throws {
    let program = Program()
    let journal = program.makeJournal()
    let mutation = self.send().scope("s").journaled(as: "send")
    journal.register(mutation, as: "send")
    let store = program.client.store(for: mutation)
    let first = Task.immediate { try await store.mutate(with: Note(id: 1, text: "a")) }
    _ = try await self.script.next()
    let second = Task.immediate { try await store.mutate(with: Note(id: 1, text: "b")) }
    let third = Task.immediate { try await store.mutate(with: Note(id: 1, text: "c")) }
    second.cancel()
    await #expect(throws: (any Error).self) { try await second.value }
    expect(journal.texts, equals: ["a", "b", "c"])
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    for text in ["a", "b", "c"] {
      let run = try await self.script.next()
      expect(self.server.requests.last?.text, equals: text)
      run.succeed("ok")
    }
    try await expect(third.value, equals: "ok")
    expect(self.server.requests.map(\.key), equals: ["k1", "k1", "k2", "k3"])
    #expect(journal.entries.isEmpty)
  }

  @Test func `A call that was cancelled before is not stored`() async throws {
    let program = Program()
    let journal = program.makeJournal()
    let store = program.client.store(for: self.send().journaled(as: "send"))
    let call = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await store.mutate(with: Note(id: 1, text: "a"))
    }
    await #expect(throws: (any Error).self) { try await call.value }
    #expect(journal.entries.isEmpty)
    #expect(self.server.requests.isEmpty)
  }

  @Test func `An entry that is removed is not made`() async throws {
    let program = Program()
    let journal = program.makeJournal()
    let store = program.client.store(for: self.send().scope("s").journaled(as: "send"))
    let first = Task.immediate { try await store.mutate(with: Note(id: 1, text: "a")) }
    let run = try await self.script.next()
    let second = Task.immediate { try await store.mutate(with: Note(id: 1, text: "b")) }
    #expect(await journal.remove("k2"))
    #expect(await !journal.remove("k2"))
    await #expect { try await second.value } throws: { ($0 as? JournalError)?.code == .removed }
    run.succeed("ok")
    _ = try await first.value
    expect(self.server.done, equals: ["a"])
    #expect(try await program.storage.keys().isEmpty)
  }

  @Test func `Excluded arguments are not stored, nor are unstored members`() async throws {
    struct SignIn: Codable, Sendable {
      var name: String
      @Unstored var password: String?
    }
    let program = Program()
    _ = program.makeJournal()
    let store = program.client.store(for: self.send().journaled(as: "send", excluding: .where { $0.text == "secret" }))
    let call = Task.immediate { try await store.mutate(with: Note(id: 1, text: "secret")) }
    let run = try await self.script.next()
    #expect(try await program.storage.keys().isEmpty)
    run.succeed("ok")
    _ = try await call.value

    let value = SignIn(name: "a", password: "b")
    let data = try JSONEncoder().encode(value)
    #expect(!String(decoding: data, as: UTF8.self).contains("\"b\""))
    try expect(JSONDecoder().decode(SignIn.self, from: data).password, equals: nil)
    try expect(JSONDecoder().decode(SignIn.self, from: Data("{\"name\":\"a\"}".utf8)).name, equals: "a")
    #expect(!"\(value)".contains("\"b\""))
  }

  @Test func `A mutation without a journal is reported, and runs`() async throws {
    let store = OperationStore.detached(mutation: Send(server: self.server).journaled(as: "send"))
    try await expectWarning(.noStorage) { _ = try await store.mutate(with: Note(id: 1, text: "a")) }
    expect(self.server.done, equals: ["a"])
  }

  @Test func `A mutation that is journaled inside of its scope is reported, and keeps the order`() async throws {
    let program = Program()
    let journal = program.makeJournal()
    let store = expectWarning(.journaledInsideScope) {
      program.client.store(for: self.send().journaled(as: "send").scope("s"))
    }
    let calls = (0..<2).map { number in
      Task.immediate { try await store.mutate(with: Note(id: number, text: "\(number)")) }
    }
    for _ in 0..<2 { try await self.script.next().succeed("ok") }
    for call in calls { _ = try await call.value }
    expect(self.server.done, equals: ["0", "1"])
    #expect(journal.entries.isEmpty)
  }

  @Test func `Observers receive every change`() async throws {
    let program = Program()
    let journal = program.makeJournal()
    let counts = Log<Int>()
    let subscription = journal.subscribe { counts.append($0.count) }
    let store = program.client.store(for: self.send().journaled(as: "send"))
    let call = Task.immediate { try await store.mutate(with: Note(id: 1, text: "a")) }
    try await self.script.next().succeed("ok")
    _ = try await call.value
    expect(counts.all.first, equals: 0)
    #expect(counts.all.contains(1))
    expect(counts.all.last, equals: 0)
    subscription.cancel()
  }
}

extension MutationJournal {
  /// Waits until there are this many entries.
  func entries(count: Int) async throws {
    let gate = Gate()
    let subscription = self.subscribe { if $0.count == count { gate.open() } }
    try await gate.wait()
    subscription.cancel()
  }
}

extension MutationJournal {
  /// Waits until the entries have these statuses.
  func shows(_ statuses: [JournalEntry.Status]) async throws {
    let gate = Gate()
    let subscription = self.subscribe { if $0.map(\.status) == statuses { gate.open() } }
    try await gate.wait()
    subscription.cancel()
  }
}

/// A mutation that calls a closure, which may make other calls.
private struct Nested: MutationRequest {
  let path: OperationPath = ["outer"]
  let body: @Sendable (OperationContext) async throws -> Void

  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Note,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, any Error>
  ) async throws {
    try await self.body(context)
  }
}
