import OperationCore
import OperationMutation
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// The order of new calls and of those that are made again, in what is sent and in what is shown.
@Suite(.bounded, .warningsAreIssues) struct JournalOrderTests {
  private let server = Server()
  private let script = Script()

  /// Shows its calls in the note, in the order of their updates.
  private func mutation(in scope: String? = "s") -> any MutationRequest<Note, String, any Error> {
    let send = Send(server: self.server, script: self.script)
    return if let scope {
      send.scope(scope).journaled(as: "send", failsForGood: .where { _ in false }).deadLetters(.letPass).shownInNote()
    } else {
      send.journaled(as: "send", failsForGood: .where { _ in false }).shownInNote()
    }
  }

  /// A program whose journal can make calls, with the note that shows them.
  private func start(
    _ storage: any PersistentStorage,
    in scope: String? = "s",
    attemptsBeforeDeadLetter: Int = 5
  ) -> Screen {
    func screen(_ mutation: some MutationRequest<Note, String, any Error>) -> Screen {
      let program = Program(storage)
      let journal = program.makeJournal(attemptsBeforeDeadLetter: attemptsBeforeDeadLetter)
      journal.register(mutation, as: "send")
      let store = program.client.store(for: mutation)
      return Screen(program, journal) { try await store.mutate(with: Note(id: 1, text: $0)) }
    }
    return screen(self.mutation(in: scope))
  }

  private func answerAll(_ count: Int) async throws {
    for _ in 0..<count { try await self.script.next().succeed("ok") }
  }

  @Test(arguments: ["s", nil])
  func `A call that is made before the journal is read comes after those that are left`(scope: String?) async throws {
    let storage = TestStorage(reads: false)
    try await leaveCalls(["a", "b"], in: storage.base, scope: scope)
    let screen = self.start(storage, in: scope)
    let early = screen.call("c")
    let resumption = Task.immediate { await screen.journal.resume().settled() }
    let late = screen.call("d")
    expect(screen.shown, equals: "server+c+d")
    #expect(screen.journal.entries.isEmpty)
    storage.reading.open()
    try await screen.shows("server+a+b+c+d")
    try await screen.journal.entries(count: 4)
    expect(screen.journal.texts, equals: ["a", "b", "c", "d"])
    try await expect(Program(storage.copy()).makeJournal().texts, equals: ["a", "b", "c", "d"])
    try await self.answerAll(4)
    await resumption.value
    _ = try await (early.value, late.value)
    if scope == nil {
      expect(Set(self.server.done), equals: ["a", "b", "c", "d"])
    } else {
      expect(self.server.done, equals: ["a", "b", "c", "d"])
      expect(screen.shown, equals: "server+a+b+c+d")
    }
    #expect(screen.journal.entries.isEmpty)
  }

  @Test func `What a screen shows keeps the order while calls end`() async throws {
    let storage = TestStorage(reads: false)
    try await leaveCalls(["a", "b"], in: storage.base)
    let screen = self.start(storage)
    let call = screen.call("c")
    let resumption = Task.immediate { await screen.journal.resume().settled() }
    storage.reading.open()
    try await screen.shows("server+a+b+c")
    for count in 1...3 {
      let run = try await self.script.next()
      expect(self.server.done, equals: Array(["a", "b", "c"].prefix(count)))
      expect(screen.shown, equals: "server+a+b+c")
      run.succeed("ok")
    }
    await resumption.value
    _ = try await call.value
    expect(screen.shown, equals: "server+a+b+c")
    expect(screen.note.stateWithoutLayers.currentValue, equals: "server+a+b+c")
    let first = try #require(screen.recorder.stateValues.firstIndex(of: "server+a+b+c"))
    #expect(screen.recorder.stateValues[first...].allSatisfy { $0 == "server+a+b+c" })
  }

  @Test func `A call before the journal is resumed makes those that are left first, and is shown above them`()
    async throws
  {
    let storage = InMemoryStorage()
    try await leaveCalls(["a", "b"], in: storage)
    let screen = self.start(storage)
    let call = screen.call("c")
    for shown in ["server+a+c", "server+a+b+c", "server+a+b+c"] {
      let run = try await self.script.next()
      expect(screen.shown, equals: shown)
      run.succeed("ok")
    }
    _ = try await call.value
    expect(self.server.done, equals: ["a", "b", "c"])
    expect(screen.shown, equals: "server+a+b+c")
    #expect(screen.journal.entries.isEmpty)
  }

  @Test func `A call before the journal is resumed is shown above those that are resumed later`() async throws {
    let storage = InMemoryStorage()
    try await leaveCalls(["a", "b"], in: storage)
    let screen = self.start(storage)
    let call = screen.call("c")
    let run = try await self.script.next()
    let resumption = Task.immediate { await screen.journal.resume().settled() }
    expect(screen.shown, equals: "server+a+b+c")
    run.succeed("ok")
    try await self.answerAll(2)
    await resumption.value
    _ = try await call.value
    expect(self.server.done, equals: ["a", "b", "c"])
    expect(screen.shown, equals: "server+a+b+c")
  }

  @Test func `A store that is made while calls wait shows them in their order`() async throws {
    let storage = TestStorage(reads: false)
    try await leaveCalls(["a", "b"], in: storage.base)
    let screen = self.start(storage)
    let call = screen.call("c")
    let resumption = Task.immediate { await screen.journal.resume().settled() }
    storage.reading.open()
    try await screen.shows("server+a+b+c")
    let other = screen.program.client.store(for: Script().query(path: ["note", 2]))
    expect(other.currentValue, equals: "+a+b+c")
    try await self.answerAll(3)
    await resumption.value
    _ = try await call.value
    expect(other.currentValue, equals: "+a+b+c")
  }

  @Test func `A call is not accepted when the journal cannot be read, and is not shown`() async throws {
    let storage = TestStorage(reads: false)
    storage.failToRead(true)
    try await leaveCalls(["a"], in: storage.base)
    let screen = self.start(storage)
    let call = screen.call("c")
    expect(screen.shown, equals: "server+c")
    storage.reading.open()
    await #expect { try await call.value } throws: { ($0 as? JournalError)?.code == .notAccepted }
    expect(screen.shown, equals: "server")
    storage.failToRead(false)
    let resumption = Task.immediate { await screen.journal.resume().settled() }
    try await self.answerAll(1)
    await resumption.value
    expect(self.server.done, equals: ["a"])
    expect(screen.shown, equals: "server+a")
  }

  @Test func `A cancelled call that is made again is shown below later ones`() async throws {
    let screen = self.start(InMemoryStorage())
    let first = screen.call("a")
    _ = try await self.script.next()
    let second = screen.call("b")
    expect(screen.shown, equals: "server+a+b")
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    let run = try await self.script.next()
    expect(screen.shown, equals: "server+a+b")
    run.succeed("ok")
    try await self.answerAll(1)
    _ = try await second.value
    expect(self.server.done, equals: ["a", "b"])
    expect(screen.shown, equals: "server+a+b")
  }

  @Test func `A dead letter that is tried again waits for the one that is being made, and is shown below it`()
    async throws
  {
    let screen = self.start(InMemoryStorage(), attemptsBeforeDeadLetter: 1)
    self.script.enqueue(.error(Refused()))
    await expectWarning(.journalDeadLetter) {
      await #expect(throws: Refused()) { try await screen.call("a").value }
    }
    expect(screen.shown, equals: "server")
    let second = screen.call("b")
    let run = try await self.script.next()
    let third = screen.call("c")
    let retry = Task.immediate { await screen.journal.retry("k1") }
    expect(screen.shown, equals: "server+a+b+c")
    expect(screen.journal.statuses, equals: [.waiting, .running, .waiting])
    run.succeed("ok")
    try await self.answerAll(2)
    #expect(await retry.value)
    _ = try await (second.value, third.value)
    expect(self.server.requests.map(\.text), equals: ["a", "b", "a", "c"])
    #expect(screen.journal.entries.isEmpty)
  }
}

/// A program with a note that shows the calls.
private struct Screen {
  let program: Program
  let journal: MutationJournal
  let note: OperationStore<TextNoteState>
  let recorder = EventRecorder<TextNoteState>()
  private let subscription: OperationSubscription
  private let send: @Sendable (String) async throws -> String

  init(_ program: Program, _ journal: MutationJournal, send: @escaping @Sendable (String) async throws -> String) {
    self.program = program
    self.journal = journal
    self.note = program.client.store(for: Script().query(path: ["note"]).stale(after: .seconds(60)))
    self.note.currentValue = "server"
    self.subscription = self.note.subscribe(with: self.recorder.handler)
    self.send = send
  }

  var shown: String? { self.note.currentValue }

  func shows(_ text: String) async throws {
    try await self.recorder.firstState { $0.currentValue == text }
  }

  func call(_ text: String) -> Task<String, any Error> {
    Task.immediate { try await self.send(text) }
  }
}

extension TestStorage {
  /// The storage that the next start of the program reads if this one ends now.
  fileprivate func copy() async throws -> InMemoryStorage {
    InMemoryStorage(entries: try await self.base.entries(withPrefix: ""))
  }
}

extension MutationRequest<Note, String, any Error> {
  /// Shows each call in the note as long as it waits.
  fileprivate func shownInNote() -> any MutationRequest<Note, String, any Error> {
    self.optimistic(on: ["note"], of: TextNoteState.self) { text, note in text = "\(text ?? "")+\(note.text)" }
  }
}
