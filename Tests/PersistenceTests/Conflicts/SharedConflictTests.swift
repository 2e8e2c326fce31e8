import FoundationEssentials
import OperationCore
import OperationMutation
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// Calls in conflict whose entries another process changes.
@Suite(.bounded, .warningsAreIssues) struct SharedConflictTests {
  private let server = VersionedServer()
  private let door = Door()
  private let clock = ManualClock()
  private let base: InMemoryStorage

  init() {
    let clock = self.clock
    self.base = InMemoryStorage(elapsed: { clock.elapsed })
    self.server.edit(1, "base")
    self.server.edit(1, "theirs")
  }

  private struct Process {
    let program: Program
    let storage: SharedStorage
    let journal: MutationJournal
    let store: OperationStore<MutationState<Note, String, any Error>>
  }

  private func process(
    _ prefix: String,
    _ storage: SharedStorage? = nil,
    _ resolve: @escaping @Sendable (ConflictedCall<Note>, ServerNote) async -> ConflictResolution<Note>
  ) -> Process {
    let storage = storage ?? SharedStorage(self.base)
    let program = Program(storage, clock: self.clock)
    let journal = program.makeJournal(prefix: prefix)
    func process(_ mutation: some MutationRequest<Note, String, any Error>) -> Process {
      journal.register(mutation, as: "save")
      return Process(
        program: program,
        storage: storage,
        journal: journal,
        store: program.client.store(for: mutation)
      )
    }
    return process(
      SaveNote(server: self.server, door: self.door).resolvesConflicts(of: NoteConflict.self, resolve)
        .scope("s").journaled(as: "save", failsForGood: .where { _ in false })
    )
  }

  /// Replaces the arguments of the call whose body runs: another process takes this one for ended, makes the call, and resolves a
  /// conflict.
  private func replaceArguments(in process: Process) async throws {
    try await self.door.arrival()
    let entry = try #require(try await self.base.entries(withPrefix: "journal/").first)
    let text = String(decoding: entry.value, as: UTF8.self).replacing(#"\"mine\""#, with: #"\"other\""#)
      .replacing(#""base":"1""#, with: #""base":"2","revision":1"#)
      .replacing(#""isBegun":true"#, with: #""isBegun":false"#)
    try await self.base.apply([.put(key: entry.key, value: Array(text.utf8))])
    self.clock.advance(by: .seconds(6))
    try await process.journal.texts(["other"])
  }

  private static let decisions: [ConflictResolution<Note>] = [
    .ask, .discard, .retry(with: Note(id: 1, text: "merged"), basedOn: "2"),
  ]

  @Test(arguments: [0, 1, 2])
  func `A decision about arguments that another process has replaced leaves the others`(decision: Int) async throws {
    let a = self.process("a") { _, _ in Self.decisions[decision] }
    self.door.close()
    let call = a.store.save("mine")
    try await self.replaceArguments(in: a)
    self.door.open()
    let error = await #expect(throws: JournalError.self) { try await call.value }
    expect(error?.code, equals: .takenOver)
    expect(a.journal.statuses, equals: [.waiting])
    expect(a.journal.texts, equals: ["other"])
    await a.journal.resume().settled()
    expect(self.server.requests.map(\.text), equals: ["mine", "other"])
    expect(self.server.requests.map(\.key), equals: ["a1", "a1~1"])
    #expect(try await self.base.keys("journal/").isEmpty)
  }

  @Test func `A success with arguments that another process has replaced does not end the call`() async throws {
    let a = self.process("a") { _, _ in .ask }
    self.door.close()
    let call = a.store.save("mine")
    try await self.replaceArguments(in: a)
    self.server.edit(1, "back")
    self.door.open()
    _ = await call.result
    expect(a.journal.statuses, equals: [.waiting])
    expect(a.journal.texts, equals: ["other"])
  }

  @Test func `An entry that is replaced between the reads of it and of its attempts is not taken for the earlier one`()
    async throws
  {
    let text = String(repeating: "mine", count: 2_000)
    let a = self.process("a") { call, current in .retry(with: call.arguments, basedOn: "\(current.version)") }
    self.door.close()
    let call = a.store.save(text)
    try await self.door.arrival()
    let storage = SharedStorage(self.base)
    let reading = storage.holdNextReading(of: "journal-attempts/", begun: false)
    let b = self.process("b", storage) { _, _ in .ask }
    let loading = Task { try await b.journal.load() }
    try await reading.arrivals(count: 1)
    // The conflict is resolved, and the answer to the new request is lost.
    self.server.loseNextAnswer()
    self.door.open()
    await #expect(throws: Broken.self) { try await call.value }
    try await a.journal.shows([.waiting])
    reading.open()
    try await loading.value
    let retry = Task.immediate { await b.journal.retry("a1") }
    let entry = try #require(try await self.base.entries(withPrefix: "journal/").first)
    #expect(String(decoding: entry.value, as: UTF8.self).contains(#""revision":1"#))
    retry.cancel()
    _ = await retry.value
    await a.journal.resume().settled()
    expect(self.server.requests.map(\.key), equals: ["a1", "a1~1", "a1~1"])
  }
}
