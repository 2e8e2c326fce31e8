import OperationCore
import OperationMutation
import OperationPersistence
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// A released journal leaves nothing behind. One thread runs everything, and the clock stands still.
@Suite(.bounded, .warningsAreIssues) struct JournalReleaseTests {
  enum Need: CaseIterable {
    /// Its only call has ended a moment ago.
    case none
    /// Its call has failed, and stays: the lease of its process says that it lives.
    case leaseOfProcess
    /// It asks for a lease that another process has.
    case leaseOfAnother
  }

  private let clock = ManualClock()
  private let base: InMemoryStorage
  private let leases = HeldLeases()
  private let executor = SteppedExecutor()
  private let lifetimes = LifetimeTracker()

  init() {
    let clock = self.clock
    self.base = InMemoryStorage(elapsed: { clock.elapsed })
  }

  @Test func `A lease of the longest duration is one that a clock can wait for`() async throws {
    let (program, server) = (Program(SharedStorage(self.base), clock: self.clock), Server())
    self.clock.advance(by: .seconds(1))
    let journal = MutationJournal(storage: program.storage, leaseDuration: Duration(attoseconds: .max)) { "k1" }
    program.client.journal = journal
    let store = program.client.store(for: Send(server: server).scope("s").journaled(as: "send"))
    try await expect(store.mutate(with: Note(id: 1, text: "a")), equals: "ok")
    #expect(server.done == ["a"] && journal.entries.isEmpty)
  }

  @Test(arguments: Need.allCases) func `A released journal gives its leases back at once, and nothing of it stays`(
    need: Need
  ) async throws {
    if need == .leaseOfAnother {
      try await leaveCalls(["a"], in: self.base)
      try await expect(self.base.acquireLease("journal:ss/", owner: "other", for: .seconds(60)), equals: .held)
    }
    self.begin(need)
    self.executor.runAll()
    expect(self.leases.names, equals: [])
    expect(self.lifetimes.aliveCount, equals: 0)
    expect(self.clock.sleeperCount(), equals: 0)
  }

  /// Begins a program, which ends when this returns.
  private func begin(_ need: Need) {
    let storage = WatchedStorage(self.base, self.leases, self.lifetimes.token())
    let program = Program(storage, clock: self.clock, executor: self.executor)
    let journal = program.makeJournal()
    let script = Script(default: need == .leaseOfProcess ? .error(Refused()) : .value("ok"))
    let send = Send(server: Server(), script: script).scope("s").journaled(
      as: "send",
      failsForGood: .where { _ in false }
    )
    journal.register(send, as: "send")
    let store = program.client.store(for: send)
    Task(executorPreference: self.executor) {
      if need == .leaseOfAnother {
        await journal.resume()
      } else {
        _ = try? await store.mutate(with: Note(id: 1, text: "a"))
      }
    }
    self.executor.runAll()
    expect(journal.statuses, equals: (need == .none ? [] : [.waiting]))
    // One lease is for the scope, the other for the process.
    expect(self.leases.names.count, equals: (need == .leaseOfAnother ? 0 : 2))
    expect(self.lifetimes.aliveCount, equals: 1)
    // The task of the leases waits until they are to be renewed or asked for again, and since a call has ended they are
    // given back after a while if no other one comes.
    expect(self.clock.sleeperCount(), equals: (need == .leaseOfAnother ? 1 : 2))
  }
}

/// The names of the leases that a storage has given.
private final class HeldLeases: Sendable {
  private let held = Mutex<Set<String>>([])

  var names: Set<String> { self.held.withLock { $0 } }

  func change(_ body: (inout Set<String>) -> Void) { self.held.withLock { body(&$0) } }
}

/// The storage of one process. It is counted while it is alive.
private final class WatchedStorage: LeasingStorage {
  private let base: InMemoryStorage
  private let leases: HeldLeases
  private let token: LifetimeTracker.Token

  init(_ base: InMemoryStorage, _ leases: HeldLeases, _ token: LifetimeTracker.Token) {
    self.base = base
    self.leases = leases
    self.token = token
  }

  nonisolated(nonsending) func entries(withPrefix prefix: String) async throws -> [StorageEntry] {
    try await self.base.entries(withPrefix: prefix)
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
    let lease = try await self.base.acquireLease(name, owner: owner, for: duration)
    if lease == .held { self.leases.change { _ = $0.insert(name) } }
    return lease
  }

  nonisolated(nonsending) func releaseLease(_ name: String, owner: String) async throws {
    try await self.base.releaseLease(name, owner: owner)
    self.leases.change { _ = $0.remove(name) }
  }

  nonisolated(nonsending) func close() async { await self.base.close() }
}
