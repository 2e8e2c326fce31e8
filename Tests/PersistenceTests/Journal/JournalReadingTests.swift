import OperationCore
import OperationMutation
import OperationPersistence
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// How often a journal reads its entries again.
@Suite(.bounded, .warningsAreIssues) struct JournalReadingTests {
  private let clock = ManualClock()
  private let script = Script(default: .value("ok"))
  private let server = Server()

  private func send(_ journal: MutationJournal, _ program: Program, _ scope: String) async throws {
    let mutation = Send(server: self.server, script: self.script, path: ["send", scope]).scope(scope)
      .journaled(as: "send")
    _ = try await program.client.store(for: mutation).mutate(with: Note(id: 1, text: scope))
  }

  @Test(arguments: [10, ModelRuns.isThorough ? 10_000 : 1_000])
  func `A call in a new scope reads no entry again, however many wait, until another process changes one`(
    count: Int
  ) async throws {
    let clock = self.clock
    let base = InMemoryStorage(elapsed: { clock.elapsed })
    // Calls of a name that nobody has registered, of a process that has ended.
    let batch = (1...count).map { number -> StorageChange in
      let digits = "\(number)"
      let json = """
        {"format":1,"id":"old\(number)","name":"other","scope":"sother/","acceptedAt":0,"attempts":0,"isSetAside":false,\
        "arguments":"1"}
        """
      let key = "journal/\(String(repeating: "0", count: 20 - digits.count))\(digits)-old\(number)"
      return .put(key: key, value: Array(json.utf8))
    }
    try await base.apply(batch)
    let storage = CountedStorage(base)
    let program = Program(storage, clock: clock)
    let journal = program.makeJournal()
    try await journal.load()
    try await self.send(journal, program, "a")
    let first = storage.rowCount
    #expect((count...2 * count + 1).contains(first))
    for scope in ["b", "c"] { try await self.send(journal, program, scope) }
    expect(storage.rowCount, equals: first)
    storage.changeElsewhere()
    try await self.send(journal, program, "d")
    #expect((first + count...first + count + 1).contains(storage.rowCount))
    expect(self.server.done, equals: ["a", "b", "c", "d"])
  }
}

/// A storage that counts the entries that it returns, and knows what others have changed.
private final class CountedStorage: LeasingStorage {
  private let base: InMemoryStorage
  private let rows = Mutex(0)
  private let foreignChanges = Counter()

  init(_ base: InMemoryStorage) {
    self.base = base
  }

  var rowCount: Int { self.rows.withLock { $0 } }

  func changeElsewhere() { self.foreignChanges.increment() }

  nonisolated(nonsending) func entries(withPrefix prefix: String) async throws -> [StorageEntry] {
    let entries = try await self.base.entries(withPrefix: prefix)
    self.rows.withLock { $0 += entries.count }
    return entries
  }

  nonisolated(nonsending) func apply(_ batch: [StorageChange]) async throws { _ = try await self.apply(batch, if: []) }

  nonisolated(nonsending) func apply(
    _ batch: [StorageChange],
    if conditions: [StorageCondition]
  ) async throws -> StorageOutcome {
    try await self.base.apply(batch, if: conditions)
  }

  nonisolated(nonsending) func acquireLease(
    _ name: String,
    owner: String,
    for duration: Duration
  ) async throws -> StorageLease {
    try await self.base.acquireLease(name, owner: owner, for: duration)
  }

  nonisolated(nonsending) func releaseLease(_ name: String, owner: String) async throws {
    try await self.base.releaseLease(name, owner: owner)
  }

  nonisolated(nonsending) func numberOfForeignChanges(withPrefix prefix: String) async throws -> Int64? {
    Int64(self.foreignChanges.value)
  }

  nonisolated(nonsending) func close() async { await self.base.close() }
}
