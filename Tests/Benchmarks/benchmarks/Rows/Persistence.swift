internal import OperationCore
internal import OperationMutation
internal import OperationPersistence
internal import Synchronization

#if SwiftOperationSQLite
  internal import OperationSQLite

  #if canImport(Glibc)
    internal import Glibc
  #endif
#endif

extension Benchmark {
  /// The cost of storing values and calls: on the disk of this machine with the trait `SwiftOperationSQLite`, and
  /// otherwise in memory.
  static let persistence = Benchmark(name: "persistence") { harness in
    let section = "persistence, 10,000 values"
    let count = harness.isShort ? 1_000 : 10_000
    var (write, read, make) = (Double.infinity, Double.infinity, Double.infinity)
    for _ in 0..<(harness.isShort ? 1 : 5) {
      let place = try StoragePlace()
      let client = place.makeClient()
      await client.restore()
      let stores = (0..<count).map { client.store(for: NoteQuery(id: $0).persisted(as: "note")) }
      for (id, store) in stores.enumerated() { store.currentValue = Note(id: id, text: "note \(id)", isDone: false) }
      write = min(write, try await microseconds { await client.persistence.flush() })
      let later = place.makeClient()
      let reading = ContinuousClock.now
      let number = await later.restore()
      read = min(read, reading.duration(to: .now) / .microseconds(1))
      precondition(number == count, "of \(count) values \(number) were read")
      make = min(
        make,
        try await microseconds {
          for id in 0..<count { keep(later.store(for: NoteQuery(id: id).persisted(as: "note")).currentValue?.id ?? 0) }
        }
      )
      await place.close()
    }
    return [
      .time(section, "write a changed value", write / Double(count), bar: 20),
      .time(section, "read a value ahead", read / Double(count), bar: 15),
      .time(section, "make a store with its value", make / Double(count)),
    ]
      + (try await calls(isShort: harness.isShort))
      + (try await pendingCalls(isShort: harness.isShort))
  }

  private static func calls(isShort: Bool) async throws -> [Row] {
    let section = "a journaled call"
    let count = isShort ? 64 : 512
    let place = try StoragePlace()
    let client = place.makeClient()
    let counting = CountingStorage(place.storage)
    client.journal = MutationJournal(storage: counting)
    let plain = client.store(for: NoteMutation(path: ["plain"]))
    let journaled = client.store(for: NoteMutation(path: ["journaled"]).journaled(as: "note"))
    let note = Note(id: 1, text: "a note", isDone: false)
    let durableWrite = try await microseconds {
      for number in 0..<count { try await place.storage.apply([.put(key: "probe/\(number)", value: [1])]) }
    }
    let before = try await microseconds { for _ in 0..<count { try await plain.mutate(with: note) } }
    let alone = try await microseconds { for _ in 0..<count { try await journaled.mutate(with: note) } }
    let writes = counting.putCount
    let atOnce = try await microseconds {
      try await withThrowingTaskGroup { group in
        for _ in 0..<count { group.addImmediateTask { try await journaled.mutate(with: note) } }
        try await group.waitForAll()
      }
    }
    await place.close()
    let each = Double(count)
    return [
      .time(section, "a plain call", before / each),
      .time(section, "a durable write", durableWrite / each),
      .time(section, "one after the other", alone / each),
      .number(section, "durable writes of a call", Double(writes) / each, bar: 1),
      .time(section, "all at once", atOnce / each),
    ]
  }
}

extension Row {
  static func time(_ section: String, _ name: String, _ value: Double, bar: Double? = nil) -> Row {
    Row(
      section: section,
      name: name,
      value: value,
      unit: .microseconds,
      bar: bar.map { Limit(.atMost, $0) }
    )
  }
}

func microseconds<R>(_ body: () async throws -> R) async throws -> Double {
  let start = ContinuousClock.now
  _ = try await body()
  return start.duration(to: .now) / .microseconds(1)
}

/// A new storage, with its file.
final class StoragePlace {
  private(set) var storage: any PersistentStorage

  #if SwiftOperationSQLite
    private let path: String

    init() throws {
      self.path = "/tmp/swift-operation-benchmark-\(UInt64.random(in: 0 ... .max)).sqlite"
      self.storage = try SQLiteStorage(path: self.path)
    }

    /// Opens the file again, as a program does that is started again.
    func reopen() async throws {
      await self.storage.close()
      self.storage = try SQLiteStorage(path: self.path)
    }

    func close() async {
      await self.storage.close()
      for suffix in ["", "-wal", "-shm", "-reserve"] { unlink(self.path + suffix) }
    }
  #else
    init() throws {
      self.storage = InMemoryStorage()
    }

    func reopen() async throws {
      self.storage = InMemoryStorage(entries: try await self.storage.entries(withPrefix: ""))
    }

    func close() async {
      await self.storage.close()
    }
  #endif

  func makeClient(
    _ client: OperationClient = OperationClient(storeCreator: OperationClient.PlainStoreCreator())
  ) -> OperationClient {
    client.defaultContext.operationStorage = self.storage
    // Nothing is written before a flush.
    client.defaultContext.operationPersistenceDelay = .seconds(3_600)
    return client
  }
}

/// Counts the durable writes.
private final class CountingStorage: PersistentStorage {
  private let base: any PersistentStorage
  private let count = Atomic(0)

  init(_ base: any PersistentStorage) {
    self.base = base
  }

  var putCount: Int { self.count.load(ordering: .relaxed) }

  func entries(withPrefix prefix: String) async throws -> [StorageEntry] {
    try await self.base.entries(withPrefix: prefix)
  }

  func apply(_ batch: [StorageChange]) async throws { _ = try await self.apply(batch, if: []) }

  func apply(
    _ batch: [StorageChange],
    if conditions: [StorageCondition]
  ) async throws -> StorageOutcome {
    let isDurable = batch.contains { if case .put = $0 { true } else { false } }
    if isDurable { self.count.add(1, ordering: .relaxed) }
    return try await self.base.apply(batch, if: conditions)
  }

  func close() async {}
}

struct Note: Codable, Sendable {
  let id: Int
  let text: String
  let isDone: Bool
}

struct NoteQuery: QueryRequest {
  let id: Int

  var path: OperationPath { ["note", self.id] }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Note, any Error>
  ) async throws -> Note {
    Note(id: self.id, text: "fetched", isDone: true)
  }
}

struct NoteMutation: MutationRequest {
  let path: OperationPath

  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Note,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    arguments.id
  }
}
