import OperationCore
import OperationMutation
import OperationPersistence
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// Two journals, as two processes have them, over one storage with leases and one clock.
@Suite(.warningsAreIssues) struct JournalLeaseTests {
  private let server = Server()
  private let script = Script()
  private let clock = ManualClock()
  private let storage: SharedStorage

  init() {
    let clock = self.clock
    self.storage = SharedStorage(InMemoryStorage(elapsed: { clock.elapsed }))
  }

  private func process(_ prefix: String) -> Process {
    let storage = SharedStorage(self.storage.base)
    let program = Program(storage, clock: self.clock)
    let journal = program.makeJournal(prefix: prefix)
    let mutation = Send(server: self.server, script: self.script).scope("s").journaled(as: "send")
    journal.register(mutation, as: "send")
    let store = program.client.store(for: mutation)
    return Process(program: program, storage: storage, journal: journal) {
      try await store.mutate(with: Note(id: 1, text: $0))
    }
  }

  /// Advances the clock whenever somebody waits for it, until a run begins.
  private func nextRun() async throws -> ScriptedRun<String, any Error> {
    let run = Task { try await self.script.next() }
    let count = self.script.runCount
    for _ in 0..<400 where self.script.runCount == count {
      try await self.clock.sleepers(count: 1)
      self.clock.advance(by: .milliseconds(50))
    }
    return try await run.value
  }

  @Test func `A call of a second process is stored at once, and waits until the first is idle`() async throws {
    let a = self.process("a")
    let b = self.process("b")
    let first = Task.immediate { try await a.send("a") }
    let run = try await self.script.next()
    let second = Task.immediate { try await b.send("b") }
    try await b.journal.entries(count: 1)
    #expect(self.server.done == ["a"])
    run.succeed("ok")
    _ = try await first.value
    let next = try await self.nextRun()
    #expect(self.server.done == ["a", "b"])
    next.succeed("ok")
    _ = try await second.value
    #expect(self.server.requests.map(\.key) == ["a1", "b1"])
    #expect(try await self.storage.base.keys().isEmpty)
  }

  @Test func `A process that is suspended begins no attempt before it has the lease again`() async throws {
    let a = self.process("a")
    self.script.enqueue(.error(Refused()))
    let wait = NetworkSwitch()
    let mutation = Send(server: self.server, script: self.script, path: ["patient"]).tryingAgain(when: wait)
      .journaled(as: "patient")
    let store = a.program.client.store(for: mutation)
    let call = Task.immediate { try await store.mutate(with: Note(id: 1, text: "a")) }
    try await self.script.runs(count: 1)
    #expect(wait.observerCount == 1)
    // Another process takes the lease while this one is suspended.
    a.storage.suspend()
    self.clock.advance(by: .seconds(6))
    #expect(try await self.storage.base.acquireLease("journal", owner: "other", for: .seconds(60)) == .held)
    a.storage.resume()
    wait.turnOn()
    try await self.clock.sleepers(count: 1)
    #expect(self.script.runCount == 1)
    try await self.storage.base.releaseLease("journal", owner: "other")
    let run = try await self.nextRun()
    run.succeed("ok")
    _ = try await call.value
    #expect(self.server.requests.count == 2)
  }

  /// A process that has read two entries of earlier starts, and reads them again because it has just taken the lease.
  private func readingAgain() async throws -> Process {
    try await leaveCalls(["a", "b"], in: self.storage.base)
    let entry = try #require(try await self.storage.base.entries(withPrefix: "journal/").last)
    let text = String(decoding: entry.value, as: UTF8.self)
      .replacing(#""isSetAside":false"#, with: #""isSetAside":true"#)
    try await self.storage.base.apply([.put(key: entry.key, value: Array(text.utf8))])
    let a = self.process("a")
    try await a.journal.load()
    #expect(a.journal.statuses == [.waiting, .deadLetter])
    a.storage.holdReads()
    await a.journal.resume()
    try await a.storage.reading.arrivals(count: 1)
    return a
  }

  @Test func `An entry that is removed while the entries are read again stays removed`() async throws {
    let a = try await self.readingAgain()
    #expect(await a.journal.remove("old1"))
    a.storage.reading.open()
    await a.journal.settled()
    #expect(a.journal.statuses == [.deadLetter])
    #expect(self.server.requests.isEmpty)
    #expect(try await self.storage.base.keys().filter { $0.hasPrefix("journal/") }.count == 1)
  }

  @Test func `A decision of the user while the entries are read again stays`() async throws {
    self.script.enqueue(.value("ok"), .value("ok"))
    let a = try await self.readingAgain()
    let retry = Task.immediate { await a.journal.retry("old2") }
    #expect(a.journal.statuses == [.waiting, .waiting])
    a.storage.reading.open()
    #expect(await retry.value)
    await a.journal.settled()
    #expect(self.server.done == ["a", "b"])
    #expect(a.journal.entries.isEmpty)
  }
}

private struct Process {
  let program: Program
  let storage: SharedStorage
  let journal: MutationJournal
  let send: @Sendable (String) async throws -> String
}

/// What one process sees of a storage that several share.
final class SharedStorage: LeasingStorage {
  private enum State { case alive, suspended }

  let base: InMemoryStorage
  /// What has been read passes it, if reads are held.
  let reading = Gate()
  private let state = Mutex(State.alive)
  private let holdsReads = AtomicFlag(false)

  init(_ base: InMemoryStorage) {
    self.base = base
  }

  func suspend() { self.state.withLock { $0 = .suspended } }
  func holdReads() { _ = self.holdsReads.set(true) }
  func resume() { self.state.withLock { $0 = .alive } }

  private var isAlive: Bool { self.state.withLock { $0 == .alive } }

  nonisolated(nonsending) func entries(withPrefix prefix: String) async throws -> [StorageEntry] {
    let entries = try await self.base.entries(withPrefix: prefix)
    if self.holdsReads.isOn { try await self.reading.wait() }
    return entries
  }

  nonisolated(nonsending) func apply(_ batch: [StorageChange]) async throws {
    if self.isAlive { try await self.base.apply(batch) }
  }

  nonisolated(nonsending) func acquireLease(
    _ name: String,
    owner: String,
    for duration: Duration
  ) async throws -> StorageLease {
    guard self.isAlive else { return .heldByAnother(remaining: .seconds(1)) }
    return try await self.base.acquireLease(name, owner: owner, for: duration)
  }

  nonisolated(nonsending) func releaseLease(_ name: String, owner: String) async throws {
    if self.isAlive { try await self.base.releaseLease(name, owner: owner) }
  }

  nonisolated(nonsending) func close() async { await self.base.close() }
}
