import FoundationEssentials
import OperationCore
import OperationPersistence
import OperationTesting
import Synchronization
import TestFixtures
import Testing

typealias Script = OperationScript<String, any Error>
typealias TextState = QueryState<String, any Error>
typealias TextStore = OperationStore<TextState>
typealias TextRecorder = EventRecorder<TextState>

/// The error of a storage that a test makes fail.
struct Broken: Error {}

/// A client with a storage and a manual clock, as a program has them after each start.
struct Program {
  let storage: any PersistentStorage
  let clock: ManualClock
  let client: OperationClient

  init(
    _ storage: any PersistentStorage = InMemoryStorage(),
    clock: ManualClock = ManualClock(),
    executor: (any TaskExecutor)? = nil
  ) {
    self.storage = storage
    self.clock = clock
    var context = OperationContext()
    context.use(clock)
    context.operationTaskConfiguration.executorPreference = executor
    context.operationStorage = storage
    context.automaticRunningSpecification = .always(true)
    // The clock's only sleepers are those of the persistence.
    self.client = OperationClient(defaultContext: context, storeCache: KeepingCache())
  }

  /// The program after a restart.
  func restarted() -> Program { Program(self.storage, clock: self.clock) }

  /// The store of a text that is fresh for a minute.
  func store(_ script: Script = Script(), _ number: Int = 1, version: Int = 1) -> TextStore {
    self.client.store(
      for: script.query(path: ["text", number]).stale(after: .seconds(60)).persisted(as: "text", version: version)
    )
  }
}

/// Keeps all stores, and needs no time for it.
struct KeepingCache: OperationClient.StoreCache {
  func storeDidBecomeIdle(_ store: OperationClient.IdleStore) {}
  func storeDidBecomeActive(_ id: OperationClient.IdleStore.ID) {}
}

/// A storage that lets a test decide when it reads and writes, and whether it fails.
final class TestStorage: PersistentStorage {
  private struct State: Sendable {
    var batches: [[StorageChange]] = []
    var readCount = 0
    var failsToRead = false
    var failsToWrite = false
  }

  let base: InMemoryStorage
  /// Open unless a test wants reads, or writes, to wait.
  let reading: Gate
  let writing: Gate
  /// Each write passes it when it has ended.
  let written = Gate(isOpen: true)
  private let state = Mutex(State())

  init(_ base: InMemoryStorage = InMemoryStorage(), reads: Bool = true, writes: Bool = true) {
    self.base = base
    self.reading = Gate(isOpen: reads)
    self.writing = Gate(isOpen: writes)
  }

  /// The batches that were written.
  var batches: [[StorageChange]] { self.state.withLock { $0.batches } }
  /// The reads of values: not those of what is known of them, and of invalidations.
  var readCount: Int { self.state.withLock { $0.readCount } }

  func failToWrite(_ fails: Bool) {
    self.state.withLock { $0.failsToWrite = fails }
  }

  func failToRead(_ fails: Bool) {
    self.state.withLock { $0.failsToRead = fails }
  }

  nonisolated(nonsending) func entries(withPrefix prefix: String) async throws -> [StorageEntry] {
    try await self.reading.wait()
    let fails = self.state.withLock { state in
      if !prefix.hasPrefix("use/"), !prefix.hasPrefix("epoch/") { state.readCount += 1 }
      return state.failsToRead
    }
    if fails { throw Broken() }
    return try await self.base.entries(withPrefix: prefix)
  }

  nonisolated(nonsending) func apply(_ batch: [StorageChange]) async throws { _ = try await self.apply(batch, if: []) }

  nonisolated(nonsending) func apply(
    _ batch: [StorageChange],
    if conditions: [StorageCondition]
  ) async throws -> StorageOutcome {
    try await self.writing.wait()
    if self.state.withLock({ $0.failsToWrite }) {
      try await self.written.wait()
      throw Broken()
    }
    let outcome = try await self.base.apply(batch, if: conditions)
    if outcome == .made { self.state.withLock { $0.batches.append(batch) } }
    try await self.written.wait()
    return outcome
  }

  nonisolated(nonsending) func close() async { await self.base.close() }
}

extension PersistentStorage {
  /// The keys of all entries but the one that says how often all values were removed.
  func keys(_ prefix: String = "") async throws -> [String] {
    try await self.entries(withPrefix: prefix).map(\.key).filter { $0 != "epoch/=era" }
  }
}

/// The codes of the warnings that are reported while a body runs, in order.
func warningCodes(_ body: () async throws -> Void) async rethrows -> [OperationWarning.Code] {
  let warnings = Log<OperationWarning.Code>()
  let reporter: OperationWarning.Reporter = { warnings.append($0.code) }
  try await OperationWarning.withReporter(reporter) { try await body() }
  return warnings.all
}

extension OperationClient {
  /// The status of the only store in a snapshot.
  var onlyStatus: OperationClientSnapshot.Store.Status? { self.snapshot().stores.first?.status }
}
