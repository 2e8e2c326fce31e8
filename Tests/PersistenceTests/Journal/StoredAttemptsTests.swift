import FoundationEssentials
import OperationCore
import OperationMutation
import OperationPersistence
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// A storage that counts the bytes that are written to it.
private final class CountingStorage: PersistentStorage {
  let base: InMemoryStorage
  private let bytes = Mutex(0)

  init(_ base: InMemoryStorage) {
    self.base = base
  }

  var byteCount: Int { self.bytes.withLock { $0 } }

  nonisolated(nonsending) func entries(withPrefix prefix: String) async throws -> [StorageEntry] {
    try await self.base.entries(withPrefix: prefix)
  }

  nonisolated(nonsending) func apply(_ batch: [StorageChange]) async throws { _ = try await self.apply(batch, if: []) }

  nonisolated(nonsending) func apply(
    _ batch: [StorageChange],
    if conditions: [StorageCondition]
  ) async throws -> StorageOutcome {
    for case .put(_, let value) in batch { self.bytes.withLock { $0 += value.count } }
    return try await self.base.apply(batch, if: conditions)
  }

  nonisolated(nonsending) func close() async {}
}

/// The attempts of a call with long arguments are stored apart from it.
@Suite(.bounded) struct StoredAttemptsTests {
  private let server = Server()
  private let base = InMemoryStorage()
  private let text = String(repeating: "long ", count: 2_000)

  private func send(_ script: Script) -> some MutationRequest<Note, String, any Error> {
    Send(server: self.server, script: script).scope("s").journaled(as: "send")
  }

  /// Starts a program that makes the calls that are left, of which each fails.
  private func fail(_ count: Int, attemptsBeforeDeadLetter: Int = 50, in storage: any PersistentStorage) async {
    let program = Program(storage)
    let journal = program.makeJournal(attemptsBeforeDeadLetter: attemptsBeforeDeadLetter)
    journal.register(self.send(Script(default: .error(Refused()))), as: "send")
    for _ in 0..<count { await journal.resume().settled() }
  }

  private func leaveCall(in storage: any PersistentStorage) async throws {
    try await leaveCalls([self.text], in: storage, attempts: 0)
  }

  @Test func `A call of a megabyte that fails twenty times is written once`() async throws {
    let storage = CountingStorage(self.base)
    let program = Program(storage)
    let journal = program.makeJournal(attemptsBeforeDeadLetter: 50)
    let script = Script(default: .error(Refused()))
    let mutation = Send(server: self.server, script: script).scope("s")
      .journaled(as: "send", failsForGood: .where { _ in false })
    journal.register(mutation, as: "send")
    let text = String(repeating: "long ", count: 200_000)
    await #expect(throws: Refused.self) {
      try await program.client.store(for: mutation).mutate(with: Note(id: 1, text: text))
    }
    for _ in 1..<20 { await journal.resume().settled() }
    expect(self.server.requests.count, equals: 20)
    expect(journal.entries.map(\.attempts), equals: [20])
    #expect(storage.byteCount > text.utf8.count)
    #expect(storage.byteCount < text.utf8.count + 100_000, "\(storage.byteCount)")
    try await expect(self.base.keys().count, equals: 2)
  }

  @Test func `The attempts of earlier starts count, and a dead letter has them in its entry`() async throws {
    try await self.leaveCall(in: self.base)
    for _ in 0..<3 { await self.fail(1, in: self.base) }
    let journal = Program(self.base).makeJournal()
    try await journal.load()
    expect(journal.entries.map(\.attempts), equals: [3])
    try await expect(self.base.keys("journal-attempts/").count, equals: 1)
    await expectWarning(.journalDeadLetter) { await self.fail(1, attemptsBeforeDeadLetter: 4, in: self.base) }
    #expect(try await self.base.keys("journal-attempts/").isEmpty)
    let last = Program(self.base).makeJournal()
    try await last.load()
    expect(last.statuses, equals: [.deadLetter])
    expect(last.entries.map(\.attempts), equals: [4])
  }

  @Test func `A process that ends in a body has counted it`() async throws {
    try await self.leaveCall(in: self.base)
    let program = Program(self.base)
    let journal = program.makeJournal()
    let script = Script()
    journal.register(self.send(script), as: "send")
    let resumption = await journal.resume()
    let run = try await script.next()
    // The program ends here.
    let left = InMemoryStorage(entries: try await self.base.entries(withPrefix: ""))
    run.succeed("ok")
    await resumption.settled()
    #expect(try await self.base.keys().isEmpty)
    await expectWarning(.journalDeadLetter) { await self.fail(1, attemptsBeforeDeadLetter: 2, in: left) }
  }

  @Test func `Ending and removing a call removes its attempts`() async throws {
    for isEnded in [true, false] {
      let storage = InMemoryStorage()
      try await self.leaveCall(in: storage)
      await self.fail(2, in: storage)
      try await expect(storage.keys().count, equals: 2)
      let program = Program(storage)
      let journal = program.makeJournal()
      journal.register(self.send(Script(default: .value("ok"))), as: "send")
      if isEnded { await journal.resume().settled() } else { #expect(await journal.remove("old1")) }
      #expect(try await storage.keys().isEmpty)
    }
  }

  @Test func `Signing out removes the attempts of calls that only other processes know`() async throws {
    let clock = ManualClock()
    let base = InMemoryStorage(elapsed: { clock.elapsed })
    let journal = Program(SharedStorage(base), clock: clock).makeJournal()
    try await journal.load()
    try await self.leaveCall(in: base)
    await self.fail(1, in: base)
    try await expect(base.keys().count, equals: 2)
    #expect(await journal.removeAll())
    #expect(try await base.keys().isEmpty)
  }

  /// An earlier version of the library writes and removes calls, and does not know of their attempts.
  @Test func `Attempts of another entry do not count, and those of none are removed at the start`() async throws {
    try await self.leaveCall(in: self.base)
    await self.fail(3, in: self.base)
    let entry = try #require(try await self.base.entries(withPrefix: "journal/").first)
    let text = String(decoding: entry.value, as: UTF8.self).replacing(#""attempts":0"#, with: #""attempts":7"#)
    try await self.base.apply([.put(key: entry.key, value: Array(text.utf8))])
    let journal = Program(self.base).makeJournal()
    try await journal.load()
    expect(journal.entries.map(\.attempts), equals: [7])
    await self.fail(1, in: self.base)
    let later = Program(self.base).makeJournal()
    try await later.load()
    expect(later.entries.map(\.attempts), equals: [8])

    try await self.base.apply([.remove(key: entry.key)])
    try await self.leaveCall(in: self.base)
    let key = try #require(try await self.base.keys("journal/").first)
    try await self.base.apply([.remove(key: key)])
    try await self.base.apply([.put(key: key + "x", value: entry.value)])
    try await Program(self.base).makeJournal().load()
    #expect(try await self.base.keys("journal-attempts/").isEmpty)
  }

  @Test func `A body that runs while the entries are read again is not counted as one that its process has ended in`()
    async throws
  {
    let (clock, script) = (ManualClock(), Script())
    let base = InMemoryStorage(elapsed: { clock.elapsed })
    try await leaveCalls(["a"], in: base, scope: "dead", attempts: 0, owner: "dead")
    let storage = SharedStorage(base)
    let program = Program(storage, clock: clock)
    let journal = program.makeJournal(attemptsBeforeDeadLetter: 2)
    let send = Send(server: self.server, script: script)
    journal.register(send, as: "send")
    let resumption = await journal.resume()
    let run = try await script.next()
    // The lease of another scope is new to the process, which reads all entries.
    let other = Script(default: .value("ok"))
    let store = program.client.store(
      for: Send(server: self.server, script: other, path: ["other"]).scope("other").journaled(as: "other")
    )
    try await store.mutate(with: Note(id: 2, text: "b"))
    run.fail(Refused())
    await resumption.settled()
    expect(journal.statuses, equals: [.waiting])
    expect(journal.entries.map(\.attempts), equals: [1])
  }

  @Test func `An attempt that another process has begun meanwhile is not overwritten`() async throws {
    let storage = TestStorage(self.base)
    try await self.leaveCall(in: self.base)
    await self.fail(1, in: self.base)
    let program = Program(storage)
    let journal = program.makeJournal()
    let script = Script()
    journal.register(self.send(script), as: "send")
    try await journal.load()
    // Another process makes it twice, and does not reach the server either.
    await self.fail(2, in: self.base)
    let resumption = await journal.resume()
    let run = try await script.next()
    expect(journal.entries.map(\.attempts), equals: [4])
    run.succeed("ok")
    await resumption.settled()
    #expect(try await self.base.keys().isEmpty)
  }
}
