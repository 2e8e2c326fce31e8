import OperationCore
import OperationMutation
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// Decisions about calls that another process has made, sent or changed since this process has read them.
@Suite(.bounded, .warningsAreIssues) struct JournalConditionTests {
  private let server = Server()
  private let script = Script()
  private let clock = ManualClock()
  private let base: InMemoryStorage

  init() {
    let clock = self.clock
    self.base = InMemoryStorage(elapsed: { clock.elapsed })
  }

  private struct Process {
    let program: Program
    let journal: MutationJournal
    let call: @Sendable (String, Int) -> Task<String, any Error>
  }

  /// Begins a process, whose storage may be one with leases, as one that processes share.
  private func start(
    _ policy: JournalPolicy<Note> = .keepAll,
    isShared: Bool,
    attemptsBeforeDeadLetter: Int = 5,
    tryingAgain condition: NetworkSwitch? = nil,
    expires lifetime: Duration? = nil
  ) -> Process {
    func start(_ mutation: some MutationRequest<Note, String, any Error>) -> Process {
      let program = Program(isShared ? SharedStorage(self.base) : self.base, clock: self.clock)
      let journal = program.makeJournal(attemptsBeforeDeadLetter: attemptsBeforeDeadLetter)
      journal.register(mutation, as: "send")
      let store = program.client.store(for: mutation)
      return Process(program: program, journal: journal) { text, id in
        Task.immediate { try await store.mutate(with: Note(id: id, text: text)) }
      }
    }
    let send = Send(server: self.server, script: self.script)
    if let condition {
      return start(send.tryingAgain(when: condition).scope("s").journaled(as: "send", policy: policy))
    }
    let mutation = send.scope("s").journaled(as: "send", policy: policy, failsForGood: .where { _ in false })
    return lifetime.map { start(mutation.expires(after: $0)) } ?? start(mutation)
  }

  // MARK: - Another process

  private func entry(of text: String) async throws -> StorageEntry {
    let entries = try await self.base.entries(withPrefix: "journal/")
    return try #require(entries.first { String(decoding: $0.value, as: UTF8.self).contains("\\\"\(text)\\\"") })
  }

  /// Removes a call, as another process does that has made it.
  private func makeElsewhere(_ text: String) async throws {
    try await self.base.apply([.remove(key: self.entry(of: text).key)])
  }

  /// Stores that the body of a call has begun and has failed, as another process does.
  private func sendElsewhere(_ text: String) async throws {
    let entry = try await self.entry(of: text)
    let sent = String(decoding: entry.value, as: UTF8.self).replacing("\"attempts\":0", with: "\"attempts\":1")
    try await self.base.apply([.put(key: entry.key, value: Array(sent.utf8))])
    #expect(try await self.entry(of: text).version != entry.version)
  }

  private func expectTakenOver(_ call: Task<String, any Error>) async {
    await #expect { try await call.value } throws: { ($0 as? JournalError)?.code == .takenOver }
  }

  private var keyCount: Int { get async throws { try await self.base.keys("journal/").count } }

  private static let merging: [JournalPolicy<Note>] = [
    .replacePending(by: \.id), .merge(by: \.id) { Note(id: $1.id, text: $0.text + $1.text) },
  ]

  // MARK: - Merging

  @Test(arguments: [0, 1], [false, true])
  func `A call is not merged with one that another process has made`(policy: Int, isShared: Bool) async throws {
    let process = self.start(Self.merging[policy], isShared: isShared)
    let first = process.call("first", 9)
    let run = try await self.script.next()
    let second = process.call("second", 1)
    try await process.journal.entries(count: 2)
    try await self.makeElsewhere("second")
    let third = process.call("third", 1)
    await self.expectTakenOver(second)
    run.succeed("ok")
    try await self.script.next().succeed("ok")
    _ = try await (first.value, third.value)
    expect(self.server.done, equals: ["first", "third"])
    expect(Set(self.server.requests.map(\.key)).count, equals: 2)
    try await expect(self.keyCount, equals: 0)
  }

  @Test(arguments: [0, 1], [false, true])
  func `A call is not merged with one that another process has sent`(policy: Int, isShared: Bool) async throws {
    let process = self.start(Self.merging[policy], isShared: isShared)
    let first = process.call("first", 9)
    let run = try await self.script.next()
    let second = process.call("second", 1)
    try await process.journal.entries(count: 2)
    try await self.sendElsewhere("second")
    let third = process.call("third", 1)
    try await process.journal.entries(count: 3)
    run.succeed("ok")
    for _ in 0..<2 { try await self.script.next().succeed("ok") }
    _ = try await (first.value, second.value, third.value)
    expect(self.server.done, equals: ["first", "second", "third"])
    try await expect(self.keyCount, equals: 0)
  }

  // MARK: - Sending

  @Test(arguments: [false, true])
  func `A body does not begin for a call that another process has made`(isShared: Bool) async throws {
    let process = self.start(isShared: isShared)
    let first = process.call("first", 1)
    let run = try await self.script.next()
    let second = process.call("second", 1)
    try await process.journal.entries(count: 2)
    try await self.makeElsewhere("second")
    run.succeed("ok")
    _ = try await first.value
    await self.expectTakenOver(second)
    expect(self.server.done, equals: ["first"])
    #expect(process.journal.entries.isEmpty)
    try await expect(self.keyCount, equals: 0)
  }

  @Test(arguments: [false, true])
  func `A further attempt does not begin for a call that another process has made`(isShared: Bool) async throws {
    let wait = NetworkSwitch()
    self.script.enqueue(.error(Refused()))
    let process = self.start(isShared: isShared, tryingAgain: wait)
    let first = process.call("first", 1)
    try await self.script.runs(count: 1)
    try await self.makeElsewhere("first")
    wait.turnOn()
    await self.expectTakenOver(first)
    expect(self.server.requests.count, equals: 1)
    #expect(process.journal.entries.isEmpty)
    try await expect(self.keyCount, equals: 0)
  }

  // MARK: - Setting aside

  @Test(arguments: [false, true])
  func `A call that another process has made does not come back as expired`(isShared: Bool) async throws {
    let process = self.start(isShared: isShared, expires: .seconds(4))
    let first = process.call("first", 1)
    let run = try await self.script.next()
    let second = process.call("second", 1)
    try await process.journal.entries(count: 2)
    try await self.makeElsewhere("second")
    // A report of the expiry would be an issue.
    self.clock.advance(by: .seconds(4))
    await self.expectTakenOver(second)
    run.succeed("ok")
    _ = try await first.value
    expect(self.server.done, equals: ["first"])
    #expect(process.journal.entries.isEmpty)
    try await expect(self.keyCount, equals: 0)
  }

  @Test(arguments: [false, true])
  func `A call that another process has made does not come back as a dead letter`(isShared: Bool) async throws {
    let process = self.start(isShared: isShared, attemptsBeforeDeadLetter: 1)
    let first = process.call("first", 1)
    let run = try await self.script.next()
    try await self.makeElsewhere("first")
    run.fail(Refused())
    await #expect(throws: Refused.self) { try await first.value }
    try await process.journal.entries(count: 0)
    try await expect(self.keyCount, equals: 0)
  }

  @Test(arguments: [false, true])
  func `A call that has failed is not stored again after another process has made it`(isShared: Bool) async throws {
    let process = self.start(isShared: isShared)
    let first = process.call("first", 1)
    let run = try await self.script.next()
    try await self.makeElsewhere("first")
    run.fail(Refused())
    await #expect(throws: Refused.self) { try await first.value }
    try await process.journal.entries(count: 0)
    try await expect(self.keyCount, equals: 0)
  }

  // MARK: - The user's decisions

  private func startWithDeadLetter(isShared: Bool) async throws -> Process {
    try await leaveCalls(["old"], in: self.base, attempts: 0)
    let entry = try await self.entry(of: "old")
    let text = String(decoding: entry.value, as: UTF8.self)
      .replacing("\"isSetAside\":false", with: "\"isSetAside\":true")
    try await self.base.apply([.put(key: entry.key, value: Array(text.utf8))])
    let process = self.start(isShared: isShared)
    try await process.journal.load()
    expect(process.journal.statuses, equals: [.deadLetter])
    return process
  }

  @Test(arguments: [false, true])
  func `Retrying a call that another process has removed does not store it again`(isShared: Bool) async throws {
    let process = try await self.startWithDeadLetter(isShared: isShared)
    try await self.makeElsewhere("old")
    await expect(process.journal.retry("old1"), equals: false)
    #expect(process.journal.entries.isEmpty)
    #expect(self.server.requests.isEmpty)
    try await expect(self.keyCount, equals: 0)
  }

  @Test func `Retrying a call that another process has changed makes it as it is now`() async throws {
    self.script.enqueue(.value("ok"))
    let process = try await self.startWithDeadLetter(isShared: false)
    try await self.sendElsewhere("old")
    #expect(await process.journal.retry("old1"))
    expect(self.server.done, equals: ["old"])
    try await expect(self.keyCount, equals: 0)
  }

  @Test(arguments: [false, true])
  func `Removing says whether the call was still there`(isShared: Bool) async throws {
    let process = try await self.startWithDeadLetter(isShared: isShared)
    try await self.makeElsewhere("old")
    await expect(process.journal.remove("old1"), equals: false)
    #expect(process.journal.entries.isEmpty)
  }

  @Test(arguments: [false, true])
  func `A call that another process has changed is removed all the same`(isShared: Bool) async throws {
    let process = try await self.startWithDeadLetter(isShared: isShared)
    try await self.sendElsewhere("old")
    #expect(await process.journal.remove("old1"))
    #expect(process.journal.entries.isEmpty)
    try await expect(self.keyCount, equals: 0)
  }

  // MARK: - Signing out

  @Test func `Signing out in a process reaches the calls that another one is making`() async throws {
    let other = self.start(isShared: true)
    try await other.journal.load()
    let process = self.start(isShared: true)
    let first = process.call("first", 1)
    let run = try await self.script.next()
    let later = [process.call("second", 1), process.call("third", 1)]
    try await process.journal.entries(count: 3)
    #expect(other.journal.entries.isEmpty)
    #expect(await other.journal.removeAll())
    try await expect(self.keyCount, equals: 0)
    run.fail(Refused())
    await #expect(throws: Refused.self) { try await first.value }
    for call in later { await self.expectTakenOver(call) }
    expect(self.server.requests.count, equals: 1)
    #expect(process.journal.entries.isEmpty)
    try await expect(self.keyCount, equals: 0)
  }

  @Test func `Clearing a client reaches the calls that another process is making`() async throws {
    let other = self.start(isShared: true)
    try await other.journal.load()
    let process = self.start(isShared: true)
    let first = process.call("first", 1)
    let run = try await self.script.next()
    let second = process.call("second", 1)
    try await process.journal.entries(count: 2)
    var keys: [String]?
    try await other.program.client.clearEverything { keys = try await self.base.keys("journal/") }
    expect(keys, equals: [])
    // Its caller has the value of the attempt that had begun.
    run.succeed("ok")
    try await expect(first.value, equals: "ok")
    await self.expectTakenOver(second)
    expect(self.server.requests.count, equals: 1)
    #expect(process.journal.entries.isEmpty)
    try await expect(self.keyCount, equals: 0)
  }

  @Test func `A call that begins in another process after signing out is made`() async throws {
    let process = self.start(Self.merging[0], isShared: true)
    let first = process.call("first", 9)
    let run = try await self.script.next()
    let second = process.call("second", 1)
    try await process.journal.entries(count: 2)
    #expect(await self.start(isShared: true).journal.removeAll())
    // It is not merged with the removed one.
    let third = process.call("third", 1)
    await self.expectTakenOver(second)
    run.succeed("ok")
    try await self.script.next().succeed("ok")
    _ = try await (first.value, third.value)
    expect(self.server.done, equals: ["first", "third"])
    try await expect(self.keyCount, equals: 0)
  }

  @Test func `Only calls of the given names are removed in other processes`() async throws {
    let other = self.start(isShared: true)
    try await other.journal.load()
    try await leaveCalls(["a"], in: self.base)
    try await leaveCalls(["b"], in: self.base, name: "save")
    #expect(await other.journal.removeAll(named: ["send"]))
    try await expect(self.keyCount, equals: 1)
    #expect(try await self.entry(of: "b").key.hasSuffix("old2"))
    #expect(await other.journal.removeAll())
    try await expect(self.keyCount, equals: 0)
  }
}
