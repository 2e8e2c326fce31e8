import OperationCore
import OperationMutation
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// Removals of all calls while the same process reads what others have stored.
@Suite(.bounded, .warningsAreIssues) struct JournalSigningOutTests {
  private let server = Server()
  private let script = Script()
  private let clock = ManualClock()
  private let base: InMemoryStorage
  private let storage: SharedStorage

  init() {
    let clock = self.clock
    self.base = InMemoryStorage(elapsed: { clock.elapsed })
    self.storage = SharedStorage(self.base)
  }

  private func send(in scope: String) -> some MutationRequest<Note, String, any Error> {
    Send(server: self.server, script: self.script, path: ["send", scope]).scope(scope).journaled(as: "send")
  }

  private func start(_ storage: SharedStorage, prefix: String) -> (program: Program, journal: MutationJournal) {
    let program = Program(storage, clock: self.clock)
    return (program, program.makeJournal(prefix: prefix))
  }

  /// Makes a call, for which the process takes a lease, with which it reads the entries of others.
  private func call(_ program: Program) -> Task<String, any Error> {
    let store = program.client.store(for: self.send(in: "own"))
    return Task.immediate { try await store.mutate(with: Note("own")) }
  }

  @Test func `What a process reads of others while it removes all calls is removed, and a call that begins then made`()
    async throws
  {
    let (program, journal) = self.start(self.storage, prefix: "k")
    try await journal.load()
    let other = self.start(SharedStorage(self.base), prefix: "other")
    try await leaveCalls(["a"], in: self.base)
    try await other.journal.schedule(self.send(in: "s"), with: Note("b"), named: "n", every: .seconds(10))
    let gate = self.storage.holdNextReading(of: "journal/")
    let removal = Task.immediate { await journal.removeAll() }
    try await gate.arrivals(count: 1)
    let call = self.call(program)
    let run = try await self.script.next()
    expect(journal.entries.count, equals: 3)
    gate.open()
    #expect(await removal.value)
    expect(journal.texts, equals: ["own"])
    try await expect(self.base.keys("journal/").count, equals: 1)
    run.succeed("ok")
    try await expect(call.value, equals: "ok")
    #expect(try await self.base.keys("journal/").isEmpty)
    expect(self.server.requests.map(\.text), equals: ["own"])
  }

  @Test func `What a process has begun to read when it removes all calls is not shown afterwards`() async throws {
    let (program, journal) = self.start(self.storage, prefix: "k")
    try await journal.load()
    try await leaveCalls(["a"], in: self.base)
    let gate = self.storage.holdNextReading(of: "journal/")
    let call = self.call(program)
    try await gate.arrivals(count: 1)
    #expect(await journal.removeAll())
    gate.open()
    let error = await #expect(throws: JournalError.self) { try await call.value }
    expect(error?.code, equals: .removed)
    try await self.clock.noSleepers(.deadline, afterAdvancing: .seconds(1))
    #expect(journal.entries.isEmpty)
    #expect(try await self.base.keys("journal/").isEmpty)
    #expect(self.server.requests.isEmpty)
  }

  @Test(arguments: [false, true])
  func `What another process merges with a call that is being removed is removed, too`(isRead: Bool) async throws {
    let other = self.start(SharedStorage(self.base), prefix: "other")
    let merging = Send(server: self.server, script: self.script).scope("s")
      .journaled(as: "send", policy: .merge(by: \.id) { Note(id: $1.id, text: $0.text + $1.text) })
    let store = other.program.client.store(for: merging)
    let (program, journal) = self.start(self.storage, prefix: "k")
    try await journal.load()
    let first = store.enqueue(with: Note(id: 1, text: "first"))
    let run = try await self.script.next()
    let second = store.enqueue(with: Note(id: 2, text: "second"))
    try await second.accepted()
    let gate = self.storage.holdNextReading(of: "journal/")
    let removal = Task.immediate { await journal.removeAll() }
    try await gate.arrivals(count: 1)
    var own: (call: Task<String, any Error>, run: ScriptedRun<String, any Error>)?
    if isRead {
      let call = self.call(program)
      own = (call, try await self.script.next())
      expect(journal.entries.count, equals: 3)
    }
    let third = store.enqueue(with: Note(id: 2, text: "third"))
    try await third.accepted()
    expect(other.journal.texts, equals: ["first", "secondthird"])
    gate.open()
    #expect(await removal.value)
    // Otherwise a call would wait for a lease.
    try #require(try await self.base.keys("journal/").count == (isRead ? 1 : 0))
    run.succeed("ok")
    own?.run.succeed("ok")
    try await expect(first.result, equals: "ok")
    try await expect(own?.call.value ?? "ok", equals: "ok")
    for call in [second, third] {
      await #expect { try await call.result } throws: { ($0 as? JournalError)?.code == .takenOver }
    }
    expect(self.server.requests.map(\.text).sorted(), equals: (isRead ? ["first", "own"] : ["first"]))
    #expect(try await self.base.keys("journal/").isEmpty)
  }

  @Test func `Calls of an earlier start whose removal fails are removed by the next one`() async throws {
    try await leaveCalls(["a", "b"], in: self.base)
    let journal = self.start(self.storage, prefix: "k").journal
    try await journal.load()
    self.storage.failToWrite(true)
    let warnings = await warningCodes { #expect(await !journal.removeAll()) }
    expect(warnings, equals: [.storageFailed, .storageFailed])
    expect(journal.texts, equals: ["a", "b"])
    self.storage.failToWrite(false)
    #expect(await journal.removeAll())
    #expect(try await self.base.keys("journal/").isEmpty)
  }

  @Test func `A removal ends beside a process that changes a call all the time`() async throws {
    let journal = self.start(self.storage, prefix: "k").journal
    try await journal.load()
    try await leaveCalls(["a", "b"], in: self.base)
    let left = try #require(try await self.base.entries(withPrefix: "journal/").last)
    let reads = self.storage.reads.value
    var gate = self.storage.holdNextReading(of: "journal/")
    let removal = Task.immediate { await journal.removeAll() }
    for pass in 1...10 {
      try await gate.arrivals(count: 1)
      // An entry with other spaces is another one.
      let value = left.value + [UInt8](repeating: UInt8(ascii: " "), count: pass)
      try await self.base.apply([.put(key: left.key, value: value)])
      let next = pass < 10 ? self.storage.holdNextReading(of: "journal/") : Gate()
      gate.open()
      gate = next
    }
    #expect(await removal.value)
    // Two of each pass.
    expect(self.storage.reads.value, equals: reads + 20)
    #expect(try await self.base.keys("journal/").isEmpty)
  }
}
