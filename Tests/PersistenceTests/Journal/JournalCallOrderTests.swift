import FoundationEssentials
import OperationCore
import OperationMutation
import OperationPausing
import OperationPersistence
import OperationTesting
import Synchronization
import TestFixtures
import Testing

private typealias NoteStore = OperationStore<MutationState<Note, String, any Error>>

/// Enqueues calls on its own executor.
private actor Caller {
  func enqueue(_ texts: [String], on store: NoteStore) -> [EnqueuedCall<MutationState<Note, String, any Error>>] {
    texts.map { store.enqueue(with: Note(id: 1, text: $0)) }
  }
}

/// Calls are accepted in the order in which their callers begin them.
@Suite(.bounded, .warningsAreIssues) struct JournalCallOrderTests {
  private static let callCount = ModelRuns.isThorough ? 2_000 : 200

  private let server = Server()
  private let script = Script()
  private let network = NetworkSwitch()

  private func start(
    _ mutation: some MutationRequest<Note, String, any Error>,
    _ storage: any PersistentStorage = InMemoryStorage()
  ) -> (program: Program, journal: MutationJournal, store: NoteStore) {
    let program = Program(storage)
    let journal = program.makeJournal()
    journal.register(mutation, as: "send")
    return (program, journal, program.client.store(for: mutation))
  }

  /// A mutation whose calls a server answers at once.
  private var answered: some MutationRequest<Note, String, any Error> {
    Send(server: self.server).scope("s").journaled(as: "send")
  }

  private static let texts = (0..<Self.callCount).map { "\($0)" }

  @Test @MainActor func `Calls that the main actor begins in tasks are made in order`() async throws {
    let (program, journal, store) = self.start(self.answered)
    defer { withExtendedLifetime(program) {} }
    let calls = Self.texts.map { text in Task { try await store.mutate(with: Note(id: 1, text: text)) } }
    for call in calls { _ = try await call.value }
    #expect(self.server.done.elementsEqual(Self.texts) as Bool)
    #expect(journal.entries.isEmpty)
  }

  @Test @MainActor func `Calls that the main actor enqueues are made in order`() async throws {
    let (program, _, store) = self.start(self.answered)
    defer { withExtendedLifetime(program) {} }
    let calls = Self.texts.map { store.enqueue(with: Note(id: 1, text: $0)) }
    for call in calls {
      try await call.accepted()
      _ = try await call.result
    }
    #expect(self.server.done.elementsEqual(Self.texts) as Bool)
  }

  @Test @MainActor func `Calls that the main actor begins in immediate tasks are made in order`() async throws {
    let (program, _, store) = self.start(self.answered)
    defer { withExtendedLifetime(program) {} }
    let calls = Self.texts.map { text in Task.immediate { try await store.mutate(with: Note(id: 1, text: text)) } }
    for call in calls { _ = try await call.value }
    #expect(self.server.done.elementsEqual(Self.texts) as Bool)
  }

  @Test func `Calls that an actor enqueues are made in order`() async throws {
    let (program, _, store) = self.start(self.answered)
    defer { withExtendedLifetime(program) {} }
    for call in await Caller().enqueue(Self.texts, on: store) { _ = try await call.result }
    #expect(self.server.done.elementsEqual(Self.texts) as Bool)
  }

  @Test func `Calls that two threads enqueue are made in the order in which they enqueued them`() async throws {
    let (program, _, store) = self.start(self.answered)
    defer { withExtendedLifetime(program) {} }
    let calls = Mutex([EnqueuedCall<MutationState<Note, String, any Error>>]())
    let enqueue: @Sendable () -> Void = {
      for _ in 0..<Self.callCount / 2 {
        calls.withLock { $0.append(store.enqueue(with: Note(id: 1, text: Self.texts[$0.count]))) }
      }
    }
    await withTaskGroup { group in for _ in 0..<2 { group.addTask { enqueue() } } }
    for call in calls.withLock({ $0 }) { _ = try await call.result }
    #expect(self.server.done.elementsEqual(Self.texts) as Bool)
  }

  @Test @MainActor func `The last of three texts is the one that is sent`() async throws {
    for round in 0..<(ModelRuns.isThorough ? 200 : 30) {
      let (server, network) = (Server(), NetworkSwitch())
      let (program, _, store) = self.start(
        Send(server: server).waits(until: network).scope("s").journaled(as: "send", policy: .replacePending(by: \.id))
      )
      defer { withExtendedLifetime(program) {} }
      let calls = ["a", "ab", "abc"].map { text in Task { try await store.mutate(with: Note(id: 1, text: text)) } }
      if round % 2 == 0 { network.turnOn() }
      // All of them have begun when a later task of this actor runs.
      await Task { @MainActor in }.value
      network.turnOn()
      for call in calls { _ = try await call.value }
      expect(server.done.last, equals: "abc")
    }
  }

  @Test @MainActor func `Calls that begin before the journal is read keep their order behind the stored ones`()
    async throws
  {
    let storage = TestStorage(reads: false)
    try await leaveCalls(["old"], in: storage.base)
    let (program, journal, store) = self.start(self.answered, storage)
    defer { withExtendedLifetime(program) {} }
    let calls = Self.texts.prefix(100).map { text in Task { try await store.mutate(with: Note(id: 1, text: text)) } }
    // All of them have begun when a later task of this actor runs.
    await Task { @MainActor in }.value
    storage.reading.open()
    await journal.resume().settled()
    for call in calls { _ = try await call.value }
    expect(self.server.done, equals: ["old"] + Self.texts.prefix(100))
  }

  @Test @MainActor func `A call that is cancelled between others leaves their order`() async throws {
    let (program, journal, store) = self.start(self.answered, TestStorage())
    defer { withExtendedLifetime(program) {} }
    let calls = Self.texts.prefix(150).map { text in Task { try await store.mutate(with: Note(id: 1, text: text)) } }
    for index in stride(from: 1, to: 150, by: 3) { calls[index].cancel() }
    for call in calls { _ = await call.result }
    await journal.resume().settled()
    let numbers = self.server.done.compactMap { Int($0) }
    expect(numbers, equals: numbers.sorted())
    #expect(Set(numbers).isSuperset(of: (0..<150).filter { $0 % 3 != 1 }))
    #expect(journal.entries.isEmpty)
  }

  // MARK: - Enqueued calls

  @Test func `A call is accepted when it is stored, before it is made`() async throws {
    let storage = TestStorage(writes: false)
    let send = Send(server: self.server, script: self.script).scope("s").journaled(as: "send")
    let (program, journal, store) = self.start(send, storage)
    defer { withExtendedLifetime(program) {} }
    let call = store.enqueue(with: Note(id: 1, text: "a"))
    let acceptance = Task.immediate { await call.isAccepted }
    #expect(journal.entries.isEmpty)
    storage.writing.open()
    #expect(await acceptance.value)
    expect(journal.texts, equals: ["a"])
    try await self.script.next().succeed("ok")
    try await expect(call.result, equals: "ok")
    #expect(await call.isAccepted)
  }

  @Test func `A call that cannot be stored is not accepted, and the one behind it is made`() async throws {
    let storage = TestStorage()
    storage.failToWrite(true)
    let (program, _, store) = self.start(self.answered, storage)
    defer { withExtendedLifetime(program) {} }
    let refused = store.enqueue(with: Note(id: 1, text: "a"))
    #expect(await !refused.isAccepted)
    await #expect { try await refused.accepted() } throws: { ($0 as? JournalError)?.code == .notAccepted }
    storage.failToWrite(false)
    try await expect(store.enqueue(with: Note(id: 1, text: "b")).result, equals: "ok")
    expect(self.server.done, equals: ["b"])
  }

  @Test func `A call that the journal leaves out is accepted, and takes its place in the scope`() async throws {
    let send = Send(server: self.server, script: self.script).scope("s")
    let (program, journal, store) = self.start(send.journaled(as: "send", excluding: .where { $0.text.hasPrefix("x") }))
    defer { withExtendedLifetime(program) {} }
    let calls = ["x1", "x2"].map { store.enqueue(with: Note(id: 1, text: $0)) }
    for call in calls { #expect(await call.isAccepted) }
    #expect(journal.entries.isEmpty)
    for _ in calls { try await self.script.next().succeed("ok") }
    for call in calls { _ = try await call.result }
    expect(self.server.done, equals: ["x1", "x2"])
  }

  @Test(arguments: [true, false], [true, false])
  func `A call that a body enqueues in its own scope comes behind it, and is stored meanwhile`(
    isOuterJournaled: Bool,
    isDelayed: Bool
  ) async throws {
    let program = Program()
    let journal = program.makeJournal()
    let inner = Send(server: self.server).scope("s").journaled(as: "inner")
    self.network.turnOn()
    let store =
      isDelayed
      ? program.client.store(for: inner.waits(until: self.network)) : program.client.store(for: inner)
    let enqueued = Mutex<EnqueuedCall<MutationState<Note, String, any Error>>?>(nil)
    let outer = Enqueueing { [server] note in
      let call = store.enqueue(with: Note(id: 2, text: "behind"))
      enqueued.withLock { $0 = call }
      try await call.accepted()
      await #expect(throws: OperationCycleError.self) { try await call.result }
      server.receive(note.text, key: nil)
    }
    let outerStore =
      isOuterJournaled
      ? program.client.store(for: outer.scope("s").journaled(as: "outer"))
      : program.client.store(for: outer.scope("s"))
    try await outerStore.mutate(with: Note(id: 1, text: "outer"))
    _ = try await enqueued.withLock { $0 }?.result
    expect(self.server.done, equals: ["outer", "behind"])
    #expect(journal.entries.isEmpty)
  }

  @Test func `A call that shows updates is enqueued with them`() async throws {
    let program = Program()
    let journal = program.makeJournal()
    let note = program.client.store(for: Script().query(path: ["note"]))
    note.currentValue = "server"
    let store = program.client.store(
      for: Send(server: self.server, script: self.script).scope("s").journaled(as: "send")
        .optimistic(on: ["note"], of: TextNoteState.self) { text, note in text = "\(text ?? "")+\(note.text)" }
    )
    let calls = ["a", "b"].map { store.enqueue(with: Note(id: 1, text: $0)) }
    for call in calls { #expect(await call.isAccepted) }
    expect(note.currentValue, equals: "server+a+b")
    for _ in calls { try await self.script.next().succeed("ok") }
    for call in calls { _ = try await call.result }
    expect(note.currentValue, equals: "server+a+b")
    #expect(journal.entries.isEmpty)
  }
}

/// A mutation that calls a closure.
private struct Enqueueing: MutationRequest {
  var path: OperationPath { ["outer"] }
  let body: @Sendable (Note) async throws -> Void

  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Note,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, any Error>
  ) async throws {
    try await self.body(arguments)
  }
}
