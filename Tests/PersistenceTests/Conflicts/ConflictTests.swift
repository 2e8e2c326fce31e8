import FoundationEssentials
import OperationCore
import OperationMutation
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// Calls that are in conflict with what the server has.
@Suite(.bounded, .warningsAreIssues) struct ConflictTests {
  private typealias Store = OperationStore<MutationState<Note, String, any Error>>
  private typealias Resolve =
    @Sendable (ConflictedCall<Note>, ServerNote) async -> ConflictResolution<Note>

  private let server = VersionedServer()
  private let door = Door()

  init() {
    self.server.edit(1, "base")
    self.server.edit(1, "theirs")
    self.server.edit(2, "base")
  }

  private struct Start {
    let program: Program
    let journal: MutationJournal
    let mutation: any MutationRequest<Note, String, any Error>
    let store: Store
    let note: OperationStore<TextNoteState>

    var conflicts: [JournalConflict<Note, ServerNote>] {
      func conflicts(_ mutation: some MutationRequest<Note, String, any Error>) -> [JournalConflict<Note, ServerNote>] {
        self.journal.conflicts(of: mutation, as: ServerNote.self)
      }
      return conflicts(self.mutation)
    }
  }

  /// Starts the program. Conflicts are resolved inside or outside of `.journaled(as:)`, and inside of a retry.
  private func start(
    _ storage: any PersistentStorage = InMemoryStorage(),
    isOutside: Bool = false,
    isRetried: Bool = false,
    clock: ManualClock = ManualClock(),
    executor: (any TaskExecutor)? = nil,
    prefix: String = "k",
    resolving resolve: @escaping Resolve
  ) -> Start {
    func start(_ mutation: some MutationRequest<Note, String, any Error>) -> Start {
      let program = Program(storage, clock: clock, executor: executor)
      let journal = program.makeJournal(prefix: prefix)
      let shown = mutation.optimistic(on: ["note"], of: TextNoteState.self) { $0 = $1.text }
      journal.register(shown, as: "save")
      let note = program.client.store(for: Script().query(path: ["note"]).stale(after: .seconds(60)))
      note.currentValue = "server"
      let store = program.client.store(for: shown)
      return Start(program: program, journal: journal, mutation: shown, store: store, note: note)
    }
    let save = SaveNote(server: self.server, door: self.door)
    if isOutside {
      return start(save.scope("s").journaled(as: "save").resolvesConflicts(of: NoteConflict.self, resolve))
    }
    let resolving = save.resolvesConflicts(of: NoteConflict.self, resolve)
    if isRetried { return start(resolving.tryingAgain().scope("s").journaled(as: "save")) }
    return start(resolving.scope("s").journaled(as: "save"))
  }

  private static let merge: Resolve = { call, current in
    let both = Note(id: call.arguments.id, text: "\(current.text)+\(call.arguments.text)")
    return .retry(with: both, basedOn: "\(current.version)")
  }

  private static let ask: Resolve = { _, _ in .ask }

  private func request(_ key: String, _ text: String, _ base: String?) -> VersionedServer.Request {
    VersionedServer.Request(key: key, text: text, base: base)
  }

  private func codes(_ task: Task<String, any Error>) async -> JournalError.Code? {
    do { _ = try await task.value } catch { return (error as? JournalError)?.code }
    return nil
  }

  // MARK: - Retrying

  @Test(arguments: [false, true]) func `A call is made again with merged arguments, and its caller gets the value`(
    isOutside: Bool
  ) async throws {
    let start = self.start(isOutside: isOutside, resolving: Self.merge)
    try await expect(start.store.save("mine").value, equals: "3")
    expect(self.server.requests, equals: [self.request("k1", "mine", "1"), self.request("k1~1", "theirs+mine", "2")])
    expect(self.server[1]?.text, equals: "theirs+mine")
    #expect(start.journal.entries.isEmpty)
    expect(start.store.state.journaledCalls.map { $0.arguments?.text }, equals: ["theirs+mine"])
    #expect(try await start.program.storage.keys().isEmpty)
    expect(start.note.currentValue, equals: "theirs+mine")
  }

  @Test func `Without a journal, replaced arguments have a key of their own`() async throws {
    let counts = Log<Int>()
    let mutation = SaveNote(server: self.server).resolvesConflicts(of: NoteConflict.self) { call, current in
      counts.append(call.retryCount)
      if counts.count == 1 { self.server.edit(1, "others") }
      return await Self.merge(call, current)
    }
    var context = OperationContext()
    context.operationBaseVersion = "1"
    context.operationIdempotencyKey = "own"
    let value = try await OperationClient().store(for: mutation).mutate(with: Note(id: 1, text: "mine"), using: context)
    expect(value, equals: "4")
    expect(self.server.requests.map(\.text), equals: ["mine", "theirs+mine", "others+theirs+mine"])
    expect(counts.all, equals: [0, 1])
    let keys = self.server.requests.map(\.key)
    expect(keys.first, equals: "own")
    #expect(Set(keys).count == 3 && !keys.contains(nil))
  }

  /// The attempts of a call with long arguments are stored apart from it.
  @Test(arguments: [1, 2_000]) func `The new arguments are stored before they are sent, and the update shows them`(
    repeating count: Int
  ) async throws {
    let mine = String(repeating: "mine", count: count)
    let storage = InMemoryStorage()
    let start = self.start(storage) { call, current in
      self.door.close()
      return await Self.merge(call, current)
    }
    let call = start.store.save(mine)
    try await self.door.arrival()
    expect(start.note.currentValue, equals: "theirs+\(mine)")
    expect(start.journal.texts, equals: ["theirs+\(mine)"])
    // Killed here, it is made as it was stored, with its key and its version.
    let copy = InMemoryStorage(entries: try await storage.entries(withPrefix: ""))
    self.door.open()
    _ = try await call.value
    let again = self.start(copy, resolving: Self.merge)
    await again.journal.resume().settled()
    expect(self.server.requests.last, equals: self.request("k1~1", "theirs+\(mine)", "2"))
    expect(again.store.state.journaledCalls.map(\.status), equals: [.succeeded])
    expect(self.server[1]?.version, equals: 3)
  }

  @Test func `New arguments that cannot be stored are not sent before they are`() async throws {
    let storage = TestStorage()
    let start = self.start(storage) { call, current in
      storage.failToWrite(true)
      return await Self.merge(call, current)
    }
    self.door.close()
    var second: Task<String, any Error>?
    let codes = try await warningCodes {
      let first = start.store.save("mine")
      second = start.store.save("other", id: 2)
      try await start.journal.entries(count: 2)
      self.door.open()
      await expect(self.codes(first), equals: .notStored)
    }
    // The end of the run is not stored either.
    expect(codes, equals: [.storageFailed])
    expect(self.server.requests, equals: [self.request("k1", "mine", "1")])
    expect(start.journal.statuses, equals: [.waiting, .blocked])
    storage.failToWrite(false)
    await start.journal.resume().settled()
    try await expect(second?.value, equals: "2")
    expect(self.server.requests[1], equals: self.request("k1~1", "theirs+mine", "2"))
    expect(self.server.requests.count, equals: 3)
    #expect(start.journal.entries.isEmpty)
    #expect(try await storage.base.keys().isEmpty)
  }

  /// What becomes of a removal.
  enum RemovalEnd: CaseIterable { case removed, takenOver, failed }

  @Test(arguments: RemovalEnd.allCases) func `New arguments are not sent while their call is being removed`(
    end: RemovalEnd
  ) async throws {
    let storage = HeldStorage(TestStorage())
    let gate = Gate()
    // So that the run has gone as far as it can when the gate is open.
    let start = self.start(storage, executor: ImmediateExecutor()) { call, current in
      await gate.waitIgnoringCancellation()
      return await Self.merge(call, current)
    }
    let codes = try await warningCodes {
      let call = start.store.save("mine")
      try await gate.arrivals(count: 1)
      storage.door.close()
      let removal = Task.immediate { await start.journal.remove("k1") }
      try await storage.door.arrival()
      gate.open()
      switch end {
      case .removed: break
      case .takenOver:
        let keys = try await storage.base.base.keys()
        try await storage.base.base.apply(keys.map { .remove(key: $0) })
      case .failed: storage.base.failToWrite(true)
      }
      storage.door.open()
      await expect(removal.value, equals: end == .removed)
      let code: JournalError.Code =
        switch end {
        case .removed: .removed
        case .takenOver: .takenOver
        case .failed: .notStored
        }
      await expect(self.codes(call), equals: code)
    }
    #expect(codes.allSatisfy { $0 == .storageFailed } && codes.isEmpty == (end != .failed), "\(codes)")
    expect(self.server.requests, equals: [self.request("k1", "mine", "1")])
    if end == .failed {
      storage.base.failToWrite(false)
      await start.journal.resume().settled()
      expect(self.server.requests.last, equals: self.request("k1~1", "theirs+mine", "2"))
    }
    #expect(start.journal.entries.isEmpty)
    #expect(try await storage.base.base.keys().isEmpty)
  }

  @Test func `A retry after a conflict goes on with the new arguments`() async throws {
    let start = self.start(isRetried: true) { call, current in
      self.server.loseNextAnswer()
      return await Self.merge(call, current)
    }
    try await expect(start.store.save("mine").value, equals: "repeated")
    let merged = self.request("k1~1", "theirs+mine", "2")
    expect(self.server.requests, equals: [self.request("k1", "mine", "1"), merged, merged])
    #expect(start.journal.entries.isEmpty)
  }

  @Test func `Without a version the server takes whatever comes`() async throws {
    let start = self.start { call, _ in .retry(with: call.arguments) }
    try await expect(start.store.save("mine").value, equals: "3")
    expect(self.server.requests.map(\.base), equals: ["1", nil])
    expect(self.server[1]?.text, equals: "mine")
  }

  @Test func `Conflicts without an end are a failure, and the call is made again later`() async throws {
    let seen = Log<Int>()
    let start = self.start { call, _ in
      seen.append(call.retryCount)
      return .retry(with: call.arguments, basedOn: "99")
    }
    await #expect(throws: NoteConflict.self) { try await start.store.save("mine").value }
    expect(seen.all, equals: Array(0...8))
    expect(self.server.requests.count, equals: 9)
    expect(start.journal.statuses, equals: [.waiting])
    expect(start.note.currentValue, equals: "mine")
  }

  @Test func `The resolver gets the call and what the server has`() async throws {
    let seen = Log<(ConflictedCall<Note>, ServerNote)>()
    let start = self.start { call, current in
      seen.append((call, current))
      return .discard
    }
    await expect(self.codes(start.store.save("mine")), equals: .discarded)
    let (call, current) = try #require(seen.all.first)
    expect(call.id, equals: "k1")
    expect(call.arguments, equals: Note(id: 1, text: "mine"))
    expect(call.baseVersion, equals: "1")
    expect(call.acceptedAt, equals: start.program.clock.now())
    expect(call.retryCount, equals: 0)
    expect(current, equals: ServerNote(text: "theirs", version: 2))
  }

  @Test func `An error that is no conflict changes nothing`() async throws {
    let program = Program()
    let journal = program.makeJournal()
    let mutation = Send(server: Server(), script: Script(default: .error(Refused())))
      .resolvesConflicts(of: NoteConflict.self) { _, _ in .ask }.journaled(as: "send")
    await #expect(throws: Refused()) { try await program.client.store(for: mutation).save("a").value }
    #expect(journal.entries.isEmpty)
  }

  // MARK: - Discarding

  @Test(arguments: [false, true]) func `A discarded call ends, and what the server has stays`(
    isOutside: Bool
  )
    async throws
  {
    let start = self.start(isOutside: isOutside) { _, _ in .discard }
    let call = start.store.save("mine")
    await #expect {
      try await call.value
    } throws: { error in
      let error = error as? JournalError
      return error?.code == .discarded && error?.cause as? NoteConflict == NoteConflict(current: self.server[1]!)
    }
    expect(self.server[1]?.text, equals: "theirs")
    #expect(start.journal.entries.isEmpty)
    expect(start.note.currentValue, equals: "server")
    expect(start.store.state.journaledCalls.map(\.status), equals: [.failed])
    #expect(try await start.program.storage.keys().isEmpty)
    // The scope goes on.
    try await expect(start.store.save("next", basedOn: "2").value, equals: "3")
  }

  // MARK: - Asking

  @Test(arguments: [false, true]) func `A call is set aside with both values, and the user's decision is made`(
    isOutside: Bool
  ) async throws {
    let start = self.start(isOutside: isOutside, resolving: Self.ask)
    await expect(self.codes(start.store.save("mine")), equals: .conflicted)
    expect(start.journal.statuses, equals: [.conflicted])
    expect(start.store.state.journaledCalls.map(\.status), equals: [.conflicted])
    expect(start.note.currentValue, equals: "server")
    let conflict = try #require(start.conflicts.first)
    expect(conflict.call.arguments.text, equals: "mine")
    expect(conflict.current, equals: ServerNote(text: "theirs", version: 2))
    // Nothing makes it by itself.
    await start.journal.resume().settled()
    expect(self.server.requests.count, equals: 1)
    #expect(try await start.journal.resolve(conflict, with: .ask))
    self.door.close()
    #expect(try await start.journal.resolve(conflict, with: .retry(with: Note(id: 1, text: "both"), basedOn: "2")))
    try await self.door.arrival()
    expect(start.note.currentValue, equals: "both")
    expect(start.journal.statuses, equals: [.running])
    #expect(start.conflicts.isEmpty)
    self.door.open()
    try await start.journal.entries(count: 0)
    expect(self.server.requests.last, equals: self.request("k1~1", "both", "2"))
    expect(self.server[1]?.text, equals: "both")
    expect(start.store.state.journaledCalls.map(\.status), equals: [.succeeded])
    #expect(try await !start.journal.resolve(conflict, with: .discard))
  }

  @Test func `The user discards the call`() async throws {
    let start = self.start(resolving: Self.ask)
    await expect(self.codes(start.store.save("mine")), equals: .conflicted)
    let conflict = try #require(start.conflicts.first)
    #expect(try await start.journal.resolve(conflict, with: .discard))
    #expect(start.journal.entries.isEmpty)
    #expect(start.store.state.journaledCalls.isEmpty)
    #expect(try await start.program.storage.keys().isEmpty)
    #expect(try await !start.journal.resolve(conflict, with: .retry(with: Note(id: 1, text: "late"))))
  }

  @Test func `Discarding leaves a call for which another process has decided otherwise`() async throws {
    let start = self.start(resolving: Self.ask)
    await expect(self.codes(start.store.save("mine")), equals: .conflicted)
    let conflict = try #require(start.conflicts.first)
    let storage = start.program.storage
    let entry = try #require(try await storage.entries(withPrefix: "journal/").first)
    let text = String(decoding: entry.value, as: UTF8.self)
    let decided = text.replacing("{", with: #"{"revision":1,"#, maxReplacements: 1)
    try await storage.apply([.put(key: entry.key, value: Array(decided.utf8))])
    #expect(try await !start.journal.resolve(conflict, with: .discard))
    try await expect(storage.keys("journal/"), equals: [entry.key])
  }

  @Test func `Of two decisions about a conflict the first one counts`() async throws {
    let (program, requests, answer) = (Program(), Log<String>(), Gate())
    let journal = program.makeJournal()
    let mutation = Recording(requests: requests, answer: answer)
      .resolvesConflicts(of: NoteConflict.self) { _, _ in .ask }
      .scope("s").journaled(as: "record")
    journal.register(mutation, as: "record")
    await #expect { try await program.client.store(for: mutation).mutate(with: Hooked(text: "mine")) } throws: {
      ($0 as? JournalError)?.code == .conflicted
    }
    let conflict = try #require(journal.conflicts(of: mutation, as: ServerNote.self).first)
    // Another decision comes while the arguments of this one are encoded, and is being made then.
    let areOpen = Log<Bool>()
    let decideAgain: @Sendable () -> Void = {
      Hooked.$whenEncoded.withValue(nil) {
        _ = Task.immediate {
          areOpen.append(try await journal.resolve(conflict, with: .retry(with: Hooked(text: "other"))))
        }
      }
    }
    let isOpen = try await Hooked.$whenEncoded.withValue(decideAgain) {
      try await journal.resolve(conflict, with: .retry(with: Hooked(text: "merged")))
    }
    #expect(!isOpen)
    expect(areOpen.all, equals: [true])
    answer.open()
    await journal.settled()
    expect(requests.all, equals: ["mine k1", "other k1~1"])
    #expect(journal.entries.isEmpty)
  }

  @Test func `A conflict survives restarts, and so does the decision`() async throws {
    let storage = InMemoryStorage()
    let first = self.start(storage, resolving: Self.ask)
    await expect(self.codes(first.store.save("mine")), equals: .conflicted)
    let second = self.start(storage, prefix: "l", resolving: Self.ask)
    expect(second.store.state.journaledCalls.map(\.status), equals: [.conflicted])
    await second.journal.resume().settled()
    let conflict = try #require(second.conflicts.first)
    expect(conflict.call.baseVersion, equals: "1")
    expect(conflict.current.text, equals: "theirs")
    // The server has moved on: the decision is in conflict, too.
    self.server.edit(1, "newer")
    #expect(try await second.journal.resolve(conflict, with: .retry(with: Note(id: 1, text: "both"), basedOn: "2")))
    await second.journal.settled()
    let third = self.start(storage, prefix: "m", resolving: Self.ask)
    let again = try #require(third.conflicts.first)
    expect(again.call.retryCount, equals: 1)
    expect(again.call.arguments.text, equals: "both")
    expect(again.current.text, equals: "newer")
    #expect(try await third.journal.resolve(again, with: .retry(with: again.call.arguments, basedOn: "3")))
    try await third.journal.entries(count: 0)
    expect(self.server.requests.map(\.key), equals: ["k1", "k1~1", "k1~2"])
    expect(self.server[1]?.text, equals: "both")
    #expect(try await storage.keys().isEmpty)
  }

  @Test func `A call of an earlier start finds its conflict when it is made again`() async throws {
    let storage = InMemoryStorage()
    self.door.close()
    let first = self.start(storage, resolving: Self.merge)
    let call = first.store.save("mine")
    try await self.door.arrival()
    let copy = InMemoryStorage(entries: try await storage.entries(withPrefix: ""))
    call.cancel()
    _ = await call.result
    self.door.open()
    let second = self.start(copy, prefix: "l", resolving: Self.merge)
    await second.journal.resume().settled()
    expect(self.server.requests, equals: [self.request("k1", "mine", "1"), self.request("k1~1", "theirs+mine", "2")])
    expect(second.store.state.journaledCalls.map(\.status), equals: [.succeeded])
    expect(second.note.currentValue, equals: "theirs+mine")
  }

  @Test func `A retry by hand asks the server again`() async throws {
    let start = self.start(resolving: Self.ask)
    await expect(self.codes(start.store.save("mine")), equals: .conflicted)
    self.server.edit(1, "newer")
    #expect(await start.journal.retry("k1"))
    expect(start.conflicts.map(\.current.text), equals: ["newer"])
    expect(self.server.requests.map(\.key), equals: ["k1", "k1"])
  }

  @Test func `A retry around the mutation does not repeat a call that was set aside`() async throws {
    let program = Program()
    let journal = program.makeJournal()
    let inside = SaveNote(server: self.server).resolvesConflicts(of: NoteConflict.self) { _, _ in .ask }.tryingAgain()
      .journaled(as: "inside").tryingAgain()
    let store = program.client.store(for: inside)
    await expect(self.codes(store.save("mine")), equals: .conflicted)
    expect(self.server.requests.count, equals: 1)
    expect(journal.statuses, equals: [.conflicted])
  }

  // MARK: - What the error does not say

  @Test func `What the server has is asked for, and if that fails the call is made again later`() async throws {
    let program = Program()
    let journal = program.makeJournal()
    let fails = SwitchSpecification(true)
    let mutation = SaveNote(server: self.server)
      .resolvesConflicts { error, context in
        guard error is NoteConflict else { return ServerNote?.none }
        if fails.isSatisfied(in: context) { throw Broken() }
        return self.server[1]
      } with: { call, current in
        .retry(with: call.arguments, basedOn: "\(current.version)")
      }
      .scope("s").journaled(as: "save")
    journal.register(mutation, as: "save")
    await #expect(throws: Broken.self) { try await program.client.store(for: mutation).save("mine").value }
    expect(journal.statuses, equals: [.waiting])
    fails.set(false)
    await journal.resume().settled()
    expect(self.server[1]?.text, equals: "mine")
    #expect(journal.entries.isEmpty)
  }

  @Test func `Without a journal a call is merged or discarded, and cannot be set aside`() async throws {
    let program = Program()
    let merging = SaveNote(server: self.server).resolvesConflicts(of: NoteConflict.self, Self.merge)
    try await expect(program.client.store(for: merging).save("mine").value, equals: "3")
    for resolution in [ConflictResolution<Note>.ask, .discard] {
      let mutation = SaveNote(server: self.server, path: ["save", "\(resolution)"])
        .resolvesConflicts(of: NoteConflict.self) { _, _ in resolution }
      await #expect(throws: NoteConflict.self) { try await program.client.store(for: mutation).save("late").value }
    }
  }
}

/// Arguments that call a closure when they are encoded.
private struct Hooked: Codable, Sendable {
  @TaskLocal static var whenEncoded: (@Sendable () -> Void)?

  let text: String

  init(text: String) { self.text = text }

  init(from decoder: any Decoder) throws { self.text = try decoder.singleValueContainer().decode(String.self) }

  func encode(to encoder: any Encoder) throws {
    Self.whenEncoded?()
    var container = encoder.singleValueContainer()
    try container.encode(self.text)
  }
}

/// A mutation that is in conflict at first, and is answered later when a gate opens.
private struct Recording: MutationRequest {
  let requests: Log<String>
  let answer: Gate
  let path: OperationPath = ["record"]

  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Hooked,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, any Error>
  ) async throws {
    self.requests.append("\(arguments.text) \(context.operationIdempotencyKey ?? "")")
    if self.requests.count == 1 { throw NoteConflict(current: ServerNote(text: "theirs", version: 2)) }
    try await self.answer.wait()
  }
}
