import FoundationEssentials
import OperationCore
import OperationMutation
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// A scope goes on whatever other processes do with a call of it that is set aside.
@Suite(.bounded, .warningsAreIssues) struct JournalMembershipTests {
  enum Change: CaseIterable { case removal, retry }

  private let server = VersionedServer()
  private let door = Door()
  private let executor = SteppedExecutor()

  init() {
    self.server.edit(1, "base")
    self.server.edit(1, "theirs")
  }

  private func start(
    _ program: Program,
    prefix: String = "k"
  ) -> (journal: MutationJournal, store: OperationStore<MutationState<Note, String, any Error>>) {
    let journal = program.makeJournal(prefix: prefix)
    let mutation = SaveNote(server: self.server, door: self.door)
      .resolvesConflicts(of: NoteConflict.self) { _, _ in .ask(holdingScope: false) }
      .scope("s")
      .journaled(as: "save")
    journal.register(mutation, as: "save")
    return (journal, program.client.store(for: mutation))
  }

  @Test(arguments: Change.allCases)
  func `A scope goes on after a call in conflict whose entry another process has changed meanwhile`(
    change: Change
  ) async throws {
    let storage = HeldStorage()
    let program = Program(storage, executor: self.executor)
    let (journal, store) = self.start(program)
    self.door.close()
    self.save("mine", basedOn: "1", in: store)
    // Its end is being stored, and the decision to keep it waits for that.
    storage.door.close()
    self.door.open()
    self.executor.runAll()
    let entry = try #require(try await storage.entries(withPrefix: "journal/").first)
    switch change {
    case .removal: try await storage.base.apply([.remove(key: entry.key)])
    case .retry:
      let text = String(decoding: entry.value, as: UTF8.self).replacing(#""attempts":1"#, with: #""attempts":0"#)
      try await storage.base.apply([.put(key: entry.key, value: Array(text.utf8))])
    }
    storage.door.open()
    self.executor.runAll()
    expect(journal.statuses, equals: change == .removal ? [] : [.waiting])
    if change == .retry {
      Task(executorPreference: self.executor) { await journal.resume() }
      self.executor.runAll()
      expect(journal.statuses, equals: [.conflicted])
    }
    self.save("b", basedOn: nil, in: store)
    expect(self.server.requests.last?.text, equals: "b")
    expect(journal.statuses, equals: change == .removal ? [] : [.conflicted])
  }

  /// Begins to save a note, and goes as far as it can.
  private func save(
    _ text: String,
    basedOn base: String?,
    in store: OperationStore<MutationState<Note, String, any Error>>
  ) {
    Task(executorPreference: self.executor) {
      var context = OperationContext()
      context.operationBaseVersion = base
      _ = try? await store.mutate(with: Note(id: 1, text: text), using: context)
    }
    self.executor.runAll()
  }

  @Test func `A scope goes on after a call of another process that is retried here and removed there`() async throws {
    let clock = ManualClock()
    let base = InMemoryStorage(elapsed: { clock.elapsed })
    let programs = (0..<2).map { _ in Program(SharedStorage(base), clock: clock) }
    let (a, b) = (self.start(programs[0], prefix: "a"), self.start(programs[1], prefix: "b"))
    let first = a.store.save("mine")
    await #expect(throws: JournalError.self) { try await first.value }
    try await self.save("b", in: b.store, clock)
    expect(b.journal.statuses, equals: [.conflicted])
    #expect(await b.journal.retry("a1"))
    #expect(await a.journal.remove("a1"))
    try await self.save("c", in: b.store, clock)
    expect(self.server.requests.map(\.text), equals: ["mine", "b", "c"])
  }

  /// Saves a note, and advances the clock until that has ended.
  private func save(
    _ text: String,
    in store: OperationStore<MutationState<Note, String, any Error>>,
    _ clock: ManualClock
  ) async throws {
    let call = store.save(text, basedOn: nil, id: 2)
    try await clock.advance(until: Task { _ = await call.result })
    _ = try await call.value
  }
}
