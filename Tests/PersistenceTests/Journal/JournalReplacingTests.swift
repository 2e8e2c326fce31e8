import FoundationEssentials
import OperationCore
import OperationMutation
import OperationPausing
import OperationPersistence
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// Calls that replace earlier ones, or are merged with them.
@Suite(.bounded, .warningsAreIssues) struct JournalReplacingTests {
  private let server = Server()
  private let script = Script()
  private let network = NetworkSwitch()

  private typealias Policy = JournalPolicy<Note>

  /// Joins the texts of calls with the same number.
  private var joining: Policy {
    .merge(by: \.id) { old, new in Note(id: new.id, text: old.text + new.text) }
  }

  private func start(
    _ policy: Policy,
    _ storage: any PersistentStorage = InMemoryStorage(),
    in scope: String? = "s",
    clock: ManualClock = ManualClock(),
    prefix: String = "k",
    on executor: (any TaskExecutor)? = nil
  ) -> Editor {
    func editor(_ mutation: some MutationRequest<Note, String, any Error>) -> Editor {
      let program = Program(storage, clock: clock)
      program.client.defaultContext.operationTaskConfiguration.executorPreference = executor
      let journal = program.makeJournal(prefix: prefix)
      let shown = mutation.optimistic(on: ["note"], of: TextNoteState.self) { text, note in
        text = "\(text ?? "")+\(note.text)"
      }
      journal.register(shown, as: "send")
      let store = program.client.store(for: shown)
      return Editor(program, journal) { try await store.mutate(with: Note(id: $0, text: $1)) }
    }
    let send = Send(server: self.server, script: self.script).waits(until: self.network)
    guard let scope else {
      return editor(send.journaled(as: "send", policy: policy, failsForGood: .where { _ in false }))
    }
    return editor(send.scope(scope).journaled(as: "send", policy: policy, failsForGood: .where { _ in false }))
  }

  private func answer(_ value: String = "ok") async throws {
    try await self.script.next().succeed(value)
  }

  // MARK: - One request

  @Test(arguments: ["s", nil]) func `Five edits become one request, whose result all callers get`(
    scope: String?
  )
    async throws
  {
    let editor = self.start(self.joining, in: scope)
    let calls = ["a", "b", "c", "d", "e"].map { editor.call($0) }
    expect(editor.journal.texts, equals: ["abcde"])
    expect(editor.journal.entries.map(\.id), equals: ["k5"])
    try await expect(editor.program.storage.keys().count, equals: 1)
    expect(editor.shown, equals: "server+abcde")
    self.network.turnOn()
    try await self.answer("done")
    for call in calls { try await expect(call.value, equals: "done") }
    expect(self.server.requests, equals: [Server.Request(key: "k5", text: "abcde", attempt: 1)])
    expect(editor.shown, equals: "server+abcde")
    #expect(editor.journal.entries.isEmpty)
    #expect(try await editor.program.storage.keys().isEmpty)
  }

  @Test func `A call that replaces another one takes its update away`() async throws {
    let editor = self.start(.replacePending(by: \.id))
    let calls = ["a", "b"].map { editor.call($0) }
    let other = editor.call("other", 2)
    expect(editor.shown, equals: "server+b+other")
    expect(editor.journal.texts, equals: ["b", "other"])
    self.network.turnOn()
    try await self.answer()
    try await self.answer()
    for call in calls + [other] { _ = try await call.value }
    expect(self.server.done, equals: ["b", "other"])
    expect(editor.shown, equals: "server+b+other")
  }

  @Test func `A call is stored in the step that removes the one it replaces`() async throws {
    let storage = TestStorage()
    let editor = self.start(self.joining, storage)
    let calls = ["a", "b"].map { editor.call($0) }
    let batches = storage.batches.map { $0.map { change in if case .put = change { "put" } else { "remove" } } }
    expect(batches, equals: [["put"], ["put", "remove"]])
    self.network.turnOn()
    try await self.answer()
    for call in calls { _ = try await call.value }
  }

  @Test func `Calls that are made while others are being stored are merged as well`() async throws {
    let storage = TestStorage(writes: false)
    let editor = self.start(self.joining, storage)
    let calls = ["a", "b", "c", "d"].map { editor.call($0) }
    try await storage.writing.arrivals(count: 1)
    #expect(editor.journal.entries.isEmpty)
    storage.writing.open()
    try await editor.journal.texts(["abcd"])
    self.network.turnOn()
    try await self.answer()
    for call in calls { _ = try await call.value }
    expect(self.server.done, equals: ["abcd"])
    #expect(try await storage.keys().isEmpty)
  }

  @Test func `A call whose first body is counted, and has not begun, is merged`() async throws {
    let storage = TestStorage(reads: false)
    let program = Program(storage)
    _ = program.makeJournal()
    let send = Send(server: self.server, script: self.script).scope("s").journaled(as: "send", policy: self.joining)
    let store = program.client.store(for: send)
    let calls = ["a", "b"].map { text in Task.immediate { try await store.mutate(with: Note(id: 1, text: text)) } }
    storage.reading.open()
    try await self.answer()
    try #require(self.server.requests.map(\.text) == ["ab"])
    for call in calls { try await expect(call.value, equals: "ok") }
  }

  // MARK: - What is not merged

  @Test func `A call whose body has begun, or has failed, is not merged`() async throws {
    self.network.turnOn()
    let editor = self.start(self.joining)
    let first = editor.call("a")
    let run = try await self.script.next()
    let second = editor.call("b")
    expect(editor.journal.texts, equals: ["a", "b"])
    run.fail(Refused())
    await #expect(throws: Refused()) { try await first.value }
    // The second waits behind the first, which may have reached the server, and can be replaced.
    let third = editor.call("c")
    expect(editor.journal.texts, equals: ["a", "bc"])
    await editor.journal.resume()
    try await self.answer("1")
    try await self.answer("2")
    try await expect(second.value, equals: "2")
    try await expect(third.value, equals: "2")
    expect(self.server.requests.map(\.text), equals: ["a", "a", "bc"])
  }

  @Test(arguments: [false, true]) func `A call that was sent is not merged once it is made again by hand`(
    isRestarted: Bool
  ) async throws {
    let storage = InMemoryStorage()
    var editor = self.start(self.joining, storage)
    self.network.turnOn()
    let first = editor.call("a")
    try await self.script.next().fail(Refused())
    await #expect(throws: Refused()) { try await first.value }
    self.network.turnOff()
    // Its attempts count from zero, and the server may have the request.
    let retry = Task.immediate { [editor] in await editor.journal.retry("k1") }
    expect(editor.journal.entries.map(\.attempts), equals: [0])
    if isRestarted {
      let copy = InMemoryStorage(entries: try await storage.entries(withPrefix: ""))
      editor = self.start(self.joining, copy, prefix: "n")
    }
    let second = editor.call("b")
    expect(editor.journal.texts, equals: ["a", "b"])
    second.cancel()
    _ = await second.result
    retry.cancel()
    #expect(await retry.value)
  }

  @Test func `A call that an older version of the library has made again by hand is not merged`() async throws {
    let storage = InMemoryStorage()
    let before = self.start(self.joining, storage)
    let left = before.call("a")
    left.cancel()
    _ = await left.result
    let entry = try #require(try await storage.entries(withPrefix: "journal/").first)
    let text = String(decoding: entry.value, as: UTF8.self)
      .replacing(#""attempts":0"#, with: #""attempts":0,"retriedAt":1"#)
    let copy = InMemoryStorage()
    try await copy.apply([.put(key: entry.key, value: Array(text.utf8))])
    let after = self.start(self.joining, copy, prefix: "n")
    let call = after.call("b")
    try #require(after.journal.texts == ["a", "b"])
    self.network.turnOn()
    for _ in 0..<2 { try await self.answer() }
    try await expect(call.value, equals: "ok")
  }

  @Test func `A call of another mutation in the scope keeps those before it`() async throws {
    let editor = self.start(self.joining)
    let other = editor.program.client.store(
      for: Send(server: self.server, script: self.script, path: ["other"]).scope("s").journaled(as: "other")
    )
    let first = editor.call("a")
    let between = Task.immediate { try await other.mutate(with: Note(id: 1, text: "share")) }
    let later = ["b", "c"].map { editor.call($0) }
    expect(editor.journal.texts, equals: ["a", "share", "bc"])
    self.network.turnOn()
    for _ in 0..<3 { try await self.answer() }
    for call in [first, between] + later { _ = try await call.value }
    expect(self.server.done, equals: ["a", "share", "bc"])
  }

  @Test func `A policy can refuse to merge, and all calls are kept without one`() async throws {
    let editor = self.start(.merge(by: \.id) { old, new in old.text == "a" ? nil : new })
    let calls = ["a", "b", "c"].map { editor.call($0) }
    expect(editor.journal.texts, equals: ["a", "c"])
    let keeping = self.start(.keepAll, prefix: "other")
    let kept = ["d", "e"].map { keeping.call($0) }
    expect(keeping.journal.texts, equals: ["d", "e"])
    self.network.turnOn()
    for _ in 0..<4 { try await self.answer() }
    for call in calls + kept { _ = try await call.value }
    expect(Set(self.server.done), equals: ["a", "c", "d", "e"])
  }

  @Test func `A key that cannot be stored is reported, and all calls are made`() async throws {
    final class Key: Hashable, Sendable {
      static func == (lhs: Key, rhs: Key) -> Bool { true }
      func hash(into hasher: inout Hasher) {}
    }
    self.network.turnOn()
    self.script.enqueue(.value("ok"))
    let editor = self.start(.replacePending(by: { _ in Key() }))
    try await expectWarning(.unstorablePath) { _ = try await editor.call("a").value }
    expect(self.server.done, equals: ["a"])
  }

  // MARK: - Restarts

  @Test func `A call is merged with one of an earlier start, if that has not been sent`() async throws {
    let storage = InMemoryStorage()
    let before = self.start(self.joining, storage)
    let calls = ["a", "b"].map { before.call($0) }
    for call in calls.reversed() {
      call.cancel()
      _ = await call.result
    }
    let after = self.start(
      self.joining,
      InMemoryStorage(entries: try await storage.entries(withPrefix: "")),
      prefix: "n"
    )
    expect(after.journal.texts, equals: ["ab"])
    let call = after.call("c")
    expect(after.journal.texts, equals: ["abc"])
    try await expect(after.program.storage.keys().count, equals: 1)
    self.network.turnOn()
    try await self.answer()
    try await expect(call.value, equals: "ok")
    expect(self.server.requests, equals: [Server.Request(key: "n1", text: "abc", attempt: 1)])
  }

  @Test func `A call that is made before the journal is read is merged, too`() async throws {
    let storage = TestStorage()
    let before = self.start(self.joining, storage)
    let left = before.call("a")
    left.cancel()
    _ = await left.result
    let slow = TestStorage(InMemoryStorage(entries: try await storage.base.entries(withPrefix: "")), reads: false)
    let after = self.start(self.joining, slow, prefix: "n")
    let calls = ["b", "c"].map { after.call($0) }
    slow.reading.open()
    try await after.journal.texts(["abc"])
    self.network.turnOn()
    try await self.answer()
    for call in calls { try await expect(call.value, equals: "ok") }
    expect(self.server.done, equals: ["abc"])
  }

  @Test func `With processes that share a storage, a call of a dead one is merged by the one that may send`()
    async throws
  {
    let clock = ManualClock()
    let base = InMemoryStorage(elapsed: { clock.elapsed })
    let dead = self.start(self.joining, SharedStorage(base), clock: clock, prefix: "d")
    let left = dead.call("a")
    try await dead.journal.texts(["a"])
    left.cancel()
    _ = await left.result
    // Its leases end with its process.
    clock.advance(by: .seconds(6))
    let copy = InMemoryStorage(entries: try await base.entries(withPrefix: ""), elapsed: { clock.elapsed })
    let heir = self.start(self.joining, SharedStorage(copy), clock: clock, prefix: "h")
    let call = heir.call("b")
    try await heir.journal.texts(["ab"])
    self.network.turnOn()
    try await self.answer()
    try await expect(call.value, equals: "ok")
    expect(self.server.requests.map(\.text), equals: ["ab"])
    // Another process may send now: its calls are not merged with those of this one.
    #expect(try await copy.keys().isEmpty)
  }

  @Test func `A call is not merged that its process has begun to send after this one has read it`() async throws {
    let clock = ManualClock()
    let base = InMemoryStorage(elapsed: { clock.elapsed })
    let dead = self.start(self.joining, SharedStorage(base), clock: clock, prefix: "d")
    let left = dead.call("a")
    try await dead.journal.texts(["a"])
    left.cancel()
    _ = await left.result
    let copy = InMemoryStorage(entries: try await base.entries(withPrefix: ""), elapsed: { clock.elapsed })
    let heir = self.start(self.joining, SharedStorage(copy), clock: clock, prefix: "h")
    try await heir.journal.texts(["a"])
    let entry = try #require(try await copy.entries(withPrefix: "journal/").first)
    let text = String(decoding: entry.value, as: UTF8.self).replacing(#""attempts":0"#, with: #""attempts":1"#)
    try await copy.apply([.put(key: entry.key, value: Array(text.utf8))])
    let call = heir.call("b")
    self.network.turnOn()
    try await self.answer()
    try #require(self.server.requests.map(\.text) == ["a"])
    try await self.answer()
    try await expect(call.value, equals: "ok")
    expect(self.server.requests.map(\.text), equals: ["a", "b"])
  }

  @Test(arguments: [false, true])
  func `A call is merged with one whose entry is being written, unless another process has sent that`(
    isSent: Bool
  ) async throws {
    let storage = HeldStorage()
    let editor = self.start(self.joining, storage)
    let left = editor.call("a")
    left.cancel()
    _ = await left.result
    storage.door.close()
    // Its entry is to say that it is made again by hand.
    let retry = Task.immediate { await editor.journal.retry("k1") }
    try await storage.door.arrival()
    let call = editor.call("b")
    if isSent {
      let entry = try #require(try await storage.base.entries(withPrefix: "journal/").first)
      let text = String(decoding: entry.value, as: UTF8.self).replacing(#""attempts":0"#, with: #""attempts":1"#)
      try await storage.base.apply([.put(key: entry.key, value: Array(text.utf8))])
    }
    storage.door.open()
    self.network.turnOn()
    let texts = isSent ? ["a", "b"] : ["ab"]
    for count in 1...texts.count {
      try await self.answer()
      try #require(self.server.requests.map(\.text) == Array(texts.prefix(count)))
    }
    try await expect(call.value, equals: "ok")
    #expect(await retry.value)
    #expect(try await storage.keys().isEmpty)
  }

  @Test func `A call of a process that may be sending is not merged`() async throws {
    let clock = ManualClock()
    let base = InMemoryStorage(elapsed: { clock.elapsed })
    let sender = self.start(self.joining, SharedStorage(base), clock: clock, prefix: "s")
    let first = sender.call("a")
    try await sender.journal.texts(["a"])
    #expect(try await base.acquireLease("journal:ss/", owner: "x", for: .seconds(1)) != .held)
    let other = self.start(self.joining, SharedStorage(base), clock: clock, prefix: "o")
    let second = other.call("b")
    try await other.journal.texts(["a", "b"])
    self.network.turnOn()
    try await self.answer()
    try await expect(first.value, equals: "ok")
    let run = Task { try await self.script.next() }
    for _ in 0..<400 where self.script.runCount < 2 {
      try await clock.sleepers(count: 1)
      clock.advance(by: .milliseconds(50))
    }
    try await run.value.succeed("ok")
    try await expect(second.value, equals: "ok")
    expect(self.server.done, equals: ["a", "b"])
  }

  // MARK: - Ends

  @Test func `A call that cannot be stored replaces nothing`() async throws {
    let storage = TestStorage()
    let editor = self.start(self.joining, storage)
    let first = editor.call("a")
    storage.failToWrite(true)
    await #expect { try await editor.call("b").value } throws: { ($0 as? JournalError)?.code == .notAccepted }
    expect(editor.shown, equals: "server+a")
    expect(editor.journal.texts, equals: ["a"])
    storage.failToWrite(false)
    let third = editor.call("c")
    expect(editor.journal.texts, equals: ["ac"])
    self.network.turnOn()
    try await self.answer()
    _ = try await (first.value, third.value)
    expect(self.server.done, equals: ["ac"])
    #expect(try await storage.keys().isEmpty)
  }

  @Test func `A failure of the merged call is thrown to all callers, and the call stays`() async throws {
    let editor = self.start(self.joining)
    let calls = ["a", "b"].map { editor.call($0) }
    self.network.turnOn()
    try await self.script.next().fail(Refused())
    for call in calls { await #expect(throws: Refused()) { try await call.value } }
    expect(editor.journal.texts, equals: ["ab"])
    expect(editor.shown, equals: "server+ab")
  }

  @Test func `A caller that leaves changes nothing for the others`() async throws {
    let editor = self.start(self.joining)
    let calls = ["a", "b", "c"].map { editor.call($0) }
    // The one that makes the call, and one of those that wait for it.
    calls[2].cancel()
    await #expect(throws: (any Error).self) { try await calls[2].value }
    calls[0].cancel()
    self.network.turnOn()
    try await self.answer()
    try await expect(calls[1].value, equals: "ok")
    await #expect(throws: (any Error).self) { try await calls[0].value }
    expect(self.server.requests.map(\.text), equals: ["abc"])
    #expect(editor.journal.entries.isEmpty)
  }

  @Test func `A merged call whose storing fails, although it is stored, is made`() async throws {
    let storage = ForgetfulStorage()
    let editor = self.start(self.joining, storage)
    let first = editor.call("a")
    try await editor.journal.texts(["a"])
    storage.loseNextAnswer()
    let second = editor.call("b")
    try await editor.journal.texts(["ab"])
    self.network.turnOn()
    try await self.answer()
    for call in [first, second] { try await expect(call.value, equals: "ok") }
    expect(self.server.requests.map(\.text), equals: ["ab"])
    #expect(try await storage.keys().isEmpty)
  }

  @Test func `A merged call that is stored, though storing and reading it fail, is made after a restart`()
    async throws
  {
    let storage = ForgetfulStorage()
    let editor = self.start(self.joining, storage)
    let first = editor.call("a")
    try await editor.journal.texts(["a"])
    storage.loseNextAnswer(failingToRead: true)
    let second = editor.call("b")
    await #expect(throws: JournalError.self) { try await second.value }
    storage.readAgain()
    self.network.turnOn()
    await #expect { try await first.value } throws: { ($0 as? JournalError)?.code == .takenOver }
    let restarted = self.start(self.joining, storage, prefix: "l")
    await restarted.journal.resume()
    try await self.answer()
    await restarted.journal.resume().settled()
    expect(self.server.requests.map(\.text), equals: ["ab"])
    #expect(try await storage.keys().isEmpty)
  }

  @Test func `All callers of a merged call get to know that another process has made it`() async throws {
    let storage = InMemoryStorage()
    // The runs of the callers continue where the journal resumes them.
    let editor = self.start(self.joining, storage, on: ImmediateExecutor())
    self.network.turnOn()
    let other = editor.call("x", 2)
    let run = try await self.script.next()
    let calls = [editor.call("a"), editor.call("b")]
    try await editor.journal.texts(["x", "ab"])
    let key = try #require(try await storage.keys().first { $0.hasSuffix("k3") })
    try await storage.apply([.remove(key: key)])
    #expect(await !editor.journal.remove("k3"))
    for call in calls {
      await #expect { try await call.value } throws: { ($0 as? JournalError)?.code == .takenOver }
    }
    run.succeed("ok")
    try await expect(other.value, equals: "ok")
  }

  @Test func `A call that becomes part of a later one while it is removed is not removed`() async throws {
    let storage = HeldStorage()
    let editor = self.start(self.joining, storage)
    let first = editor.call("a")
    try await editor.journal.texts(["a"])
    storage.door.close()
    let second = editor.call("b")
    try await storage.door.arrival()
    let removal = Task.immediate { await editor.journal.remove("k1") }
    storage.door.open()
    await expect(removal.value, equals: false)
    expect(editor.journal.texts, equals: ["ab"])
    self.network.turnOn()
    try await self.answer()
    for call in [first, second] { try await expect(call.value, equals: "ok") }
    expect(self.server.requests.map(\.text), equals: ["ab"])
  }

  @Test func `Removing a merged call that waits before its body ends the waits of all callers`() async throws {
    let editor = self.start(self.joining)
    let calls = ["a", "b"].map { editor.call($0) }
    expect(editor.journal.texts, equals: ["ab"])
    #expect(await editor.journal.remove("k2"))
    self.network.turnOn()
    for call in calls {
      await #expect { try await call.value } throws: { ($0 as? JournalError)?.code == .removed }
    }
    expect(editor.shown, equals: "server")
    #expect(self.server.requests.isEmpty)
  }

  @Test func `Removing a merged call ends the waits of all callers`() async throws {
    let editor = self.start(self.joining)
    let blocker = editor.call("x", 2)
    let calls = ["a", "b"].map { editor.call($0) }
    expect(editor.journal.texts, equals: ["x", "ab"])
    #expect(await editor.journal.remove("k3"))
    for call in calls {
      await #expect { try await call.value } throws: { ($0 as? JournalError)?.code == .removed }
    }
    expect(editor.shown, equals: "server+x")
    self.network.turnOn()
    try await self.answer()
    _ = try await blocker.value
  }
}

/// A storage that makes a batch and fails all the same, as a server does whose answer is lost.
private final class ForgetfulStorage: PersistentStorage {
  private struct State: Sendable {
    var losesAnswer = false
    /// Whether reading fails once an answer is lost.
    var failsThen = false
    var failsToRead = false
  }

  private let state = Mutex(State())
  private let base = InMemoryStorage()

  func loseNextAnswer(failingToRead failsThen: Bool = false) {
    self.state.withLock { $0 = State(losesAnswer: true, failsThen: failsThen) }
  }

  func readAgain() { self.state.withLock { $0 = State() } }

  nonisolated(nonsending) func entries(withPrefix prefix: String) async throws -> [StorageEntry] {
    if self.state.withLock({ $0.failsToRead }) { throw Broken() }
    return try await self.base.entries(withPrefix: prefix)
  }

  nonisolated(nonsending) func apply(_ batch: [StorageChange]) async throws { _ = try await self.apply(batch, if: []) }

  nonisolated(nonsending) func apply(
    _ batch: [StorageChange],
    if conditions: [StorageCondition]
  ) async throws -> StorageOutcome {
    let outcome = try await self.base.apply(batch, if: conditions)
    let isLost = self.state.withLock { state in
      defer { if state.losesAnswer { state = State(failsToRead: state.failsThen) } }
      return state.losesAnswer
    }
    if isLost { throw Broken() }
    return outcome
  }

  nonisolated(nonsending) func close() async { await self.base.close() }
}

/// A program with a note that shows the calls.
private struct Editor {
  let program: Program
  let journal: MutationJournal
  let note: OperationStore<TextNoteState>
  private let send: @Sendable (Int, String) async throws -> String

  init(_ program: Program, _ journal: MutationJournal, send: @escaping @Sendable (Int, String) async throws -> String) {
    self.program = program
    self.journal = journal
    self.note = program.client.store(for: Script().query(path: ["note"]).stale(after: .seconds(60)))
    self.note.currentValue = "server"
    self.send = send
  }

  var shown: String? { self.note.currentValue }

  func call(_ text: String, _ number: Int = 1) -> Task<String, any Error> {
    Task.immediate { try await self.send(number, text) }
  }
}

extension MutationJournal {
  /// Waits until the calls have these texts.
  func texts(_ texts: [String]) async throws {
    let gate = Gate()
    let subscription = self.subscribe { [weak self] _ in if self?.texts == texts { gate.open() } }
    try await gate.wait()
    subscription.cancel()
  }
}
