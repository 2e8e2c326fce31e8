import OperationBackoff
import OperationCore
import OperationMutation
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

private typealias NoteStore = OperationStore<MutationState<Note, String, any Error>>

/// What a journal does when its client has stopped its automatic runs, as a program does that is about to end.
@Suite(.bounded, .warningsAreIssues) struct JournalShutdownTests {
  private let server = Server()
  private let script = Script()
  private let network = NetworkSwitch()

  private func mutation(in scope: String? = "s") -> any MutationRequest<Note, String, any Error> {
    let send = Send(server: self.server, script: self.script)
    return if let scope {
      send.scope(scope).journaled(as: "send", failsForGood: .where { _ in false })
    } else {
      send.journaled(as: "send", failsForGood: .where { _ in false })
    }
  }

  private func start(
    _ storage: any PersistentStorage = InMemoryStorage(),
    in scope: String? = "s",
    resumes: MutationJournal.Resuming? = nil
  ) -> (program: Program, journal: MutationJournal, store: NoteStore) {
    func start(_ mutation: some MutationRequest<Note, String, any Error>) -> NoteStore {
      journal.register(mutation, as: "send")
      return program.client.store(for: mutation)
    }
    let program = Program(storage)
    let counter = KeyCounter()
    let journal = MutationJournal(storage: storage, resumes: resumes, makeKey: { "k\(counter.next())" })
    program.client.journal = journal
    return (program, journal, start(self.mutation(in: scope)))
  }

  /// Waits until no store of the client runs, as a service does.
  private func settle(_ client: OperationClient) async {
    while let store = client.runningStores().first { await store.settled() }
  }

  @Test(arguments: ["s", nil], [true, false])
  func `A journal that resumes makes the calls under way, and no other`(scope: String?, bySelf: Bool) async throws {
    let storage = InMemoryStorage()
    let texts = (0..<20).map { "\($0)" }
    try await leaveCalls(texts, in: storage, scope: scope)
    self.network.turnOn()
    let (program, journal, _) = self.start(storage, in: scope, resumes: bySelf ? .when(self.network) : .manually)
    let resumption = bySelf ? nil : await journal.resume()
    let count = scope == nil ? 8 : 1
    var runs: [ScriptedRun<String, any Error>] = []
    for _ in 0..<count { runs.append(try await self.script.next()) }
    program.client.stopAutomaticRuns()
    self.network.turnOff()
    self.network.turnOn()
    for run in runs { run.succeed("ok") }
    await self.settle(program.client)
    await resumption?.settled()
    await journal.resume().settled()
    #expect(!program.client.runningStores().contains { $0.isLoading })
    expect(self.server.requests.count, equals: count)
    try await journal.entries(count: 20 - count)
    try await expect(storage.keys().count, equals: 20 - count)
  }

  @Test func `Callers behind a call that waits for its backoff get an error at once, and their calls stay`()
    async throws
  {
    self.network.turnOn()
    let (program, journal, store) = self.start(resumes: .when(self.network, backoff: .constant(.seconds(20))))
    let first = Task.immediate { try await store.mutate(with: Note(id: 1, text: "a")) }
    try await self.script.next().fail(Refused())
    await #expect(throws: Refused.self) { try await first.value }
    let calls = (0..<50).map { number in
      Task.immediate { try await store.mutate(with: Note(id: 1, text: "\(number)")) }
    }
    #expect(store.isLoading)
    program.client.stopAutomaticRuns()
    for call in calls {
      await #expect { try await call.value } throws: { ($0 as? JournalError)?.code == .stopped }
    }
    await self.settle(program.client)
    program.clock.advance(by: .seconds(60))
    expect(self.server.requests.count, equals: 1)
    expect(journal.entries.count, equals: 51)
    try await expect(program.storage.keys().count, equals: 51)
    // A caller that comes later does not wait either.
    await #expect { try await store.mutate(with: Note(id: 1, text: "late")) } throws: {
      ($0 as? JournalError)?.code == .stopped
    }
  }

  @Test func `Callers whose calls wait for each other are made`() async throws {
    let (program, journal, store) = self.start()
    let calls = ["a", "b", "c"].map { text in
      Task.immediate { try await store.mutate(with: Note(id: 1, text: text)) }
    }
    program.client.stopAutomaticRuns()
    for _ in calls { try await self.script.next().succeed("ok") }
    for call in calls { _ = try await call.value }
    #expect(try await Task { try await store.mutate(with: Note(id: 1, text: "d")) }.isMade(by: self.script))
    expect(self.server.done, equals: ["a", "b", "c", "d"])
    #expect(journal.entries.isEmpty)
  }

  @Test func `Callers behind a stored call under way wait for it, and then leave`() async throws {
    let storage = InMemoryStorage()
    try await leaveCalls(["a", "b"], in: storage)
    let (program, journal, store) = self.start(storage)
    await journal.resume()
    let run = try await self.script.next()
    let call = Task.immediate { try await store.mutate(with: Note(id: 1, text: "c")) }
    program.client.stopAutomaticRuns()
    run.succeed("ok")
    await #expect { try await call.value } throws: { ($0 as? JournalError)?.code == .stopped }
    await self.settle(program.client)
    expect(self.server.done, equals: ["a"])
    expect(journal.texts, equals: ["b", "c"])
  }

  @Test func `The caller of a merged call does not wait for a call that is not made`() async throws {
    let storage = InMemoryStorage()
    try await leaveCalls(["x"], in: storage)
    let program = Program(storage)
    let journal = program.makeJournal()
    let send = Send(server: self.server, script: self.script).scope("s")
      .journaled(as: "send", policy: .replacePending(by: \.text.count))
    journal.register(send, as: "send")
    let store = program.client.store(for: send)
    try await journal.load()
    let calls = ["aa", "bb"].map { text in
      Task.immediate { try await store.mutate(with: Note(id: 1, text: text)) }
    }
    let run = try await self.script.next()
    program.client.stopAutomaticRuns()
    run.fail(CancellationError())
    for call in calls { await #expect(throws: (any Error).self) { try await call.value } }
    await self.settle(program.client)
    expect(self.server.requests.map(\.text), equals: ["x"])
    expect(journal.texts, equals: ["x", "bb"])
  }

  @Test func `A journal of a client that has stopped makes nothing`() async throws {
    let storage = InMemoryStorage()
    try await leaveCalls(["a"], in: storage)
    self.network.turnOn()
    let program = Program(storage)
    program.client.stopAutomaticRuns()
    let journal = MutationJournal(storage: storage, resumes: .when(self.network))
    program.client.journal = journal
    journal.register(Send(server: self.server).scope("s").journaled(as: "send"), as: "send")
    await journal.resume().settled()
    #expect(await journal.retry("old1"))
    #expect(self.server.requests.isEmpty)
    expect(journal.texts, equals: ["a"])
  }
}

extension Task where Success == String, Failure == any Error {
  /// Answers the next run of a script, and returns whether that ends the task.
  fileprivate func isMade(by script: Script) async throws -> Bool {
    try await script.next().succeed("made")
    return try await self.value == "made"
  }
}
