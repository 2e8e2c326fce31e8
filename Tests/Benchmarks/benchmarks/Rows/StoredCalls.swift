internal import OperationCore
internal import OperationMutation
internal import OperationPersistence

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

extension Benchmark {
  /// What the journal does in a file, which processes share by leases: for one call, for one beside many that wait, and
  /// for those that it finds at its start. None without the trait `SwiftOperationSQLite`.
  static let storedCalls = Benchmark(name: "stored calls") { harness in
    #if SwiftOperationSQLite
      try await callOverSQLite(isShort: harness.isShort) + besidePending(isShort: harness.isShort)
        + opening(isShort: harness.isShort)
    #else
      []
    #endif
  }
}

#if SwiftOperationSQLite
  extension Benchmark {
    /// One call after the other, and what bare SQLite takes that puts an entry on the disk, and removes it without waiting.
    private static func callOverSQLite(isShort: Bool) async throws -> [Row] {
      let section = "a journaled call in a file"
      let size = isShort ? 16 : 64
      let database = QueuedDatabase(try BareDatabase())
      let place = try StoragePlace()
      let client = place.makeClient()
      client.journal = MutationJournal(storage: place.storage, resumes: .manually)
      let store = client.store(for: NoteMutation(path: ["note"]).scope("note").journaled(as: "note"))
      let note = Note(id: 1, text: "a note", isDone: false)
      let value = [UInt8](repeating: 65, count: 200)
      var (bare, own): ([Double], [Double]) = ([], [])
      let unmeasured = isShort ? 1 : 4
      for block in 0..<unmeasured + (isShort ? 3 : 40) {
        let turn = [
          try await microseconds {
            for number in block * size..<(block + 1) * size {
              try await database.write(number..<number + 1, value)
              try await database.remove(number)
            }
          },
          try await microseconds { for _ in 0..<size { try await store.mutate(with: note) } },
        ]
        if block < unmeasured { continue }
        bare.append(turn[0] / Double(size))
        own.append(turn[1] / Double(size))
      }
      await place.close()
      return [
        .time(section, "bare SQLite on a queue", Distribution(of: bare).median),
        .time(section, "a call", Distribution(of: own).median),
        .ratio(section, "over bare SQLite", Distribution(of: zip(own, bare).map { $0 / $1 }), bar: 1.5),
      ]
    }

    /// A call in a scope that is new, for which a journal takes a lease, beside few and beside many calls that wait.
    private static func besidePending(isShort: Bool) async throws -> [Row] {
      let section = "a call in a new scope of a file while others are pending"
      let sizes = isShort ? [10, 1_000] : [10, 10_000]
      var journals: [WaitingCalls] = []
      for size in sizes { journals.append(try await WaitingCalls(count: size)) }
      var costs: [[Double]] = [[], []]
      let chunk = isShort ? 16 : 32
      for _ in 0..<(isShort ? 3 : 30) {
        for (index, journal) in journals.enumerated() {
          costs[index].append(try await journal.microsecondsOfCalls(chunk))
        }
      }
      for journal in journals { await journal.end() }
      let growth = Distribution(of: zip(costs[1], costs[0]).map { $0 / $1 })
      return zip(sizes, costs).map { .time(section, "beside \($0.grouped)", Distribution(of: $1).median) }
        + [.ratio(section, "growth", growth, bar: 1.2)]
    }

    /// What a start takes that finds many calls: the check of the file, and the entries of the journal.
    private static func opening(isShort: Bool) async throws -> [Row] {
      let section = "opening a file with pending calls"
      let count = isShort ? 1_000 : 10_000
      let calls = try await WaitingCalls(count: count)
      let entries = try await calls.place.storage.entries(withPrefix: "")
      await calls.end()
      let place = try StoragePlace()
      for start in stride(from: 0, to: entries.count, by: 1_000) {
        let batch = entries[start..<min(start + 1_000, entries.count)]
        try await place.storage.apply(batch.map { .put(key: $0.key, value: $0.value) })
      }
      var (all, journal) = (Double.infinity, Double.infinity)
      for _ in 0..<(isShort ? 1 : 7) {
        let start = processorTime()
        try await place.reopen()
        let opened = processorTime()
        let client = place.makeClient()
        client.journal = MutationJournal(storage: place.storage, resumes: .manually)
        try await client.journal.load()
        let end = processorTime()
        precondition(client.journal.entries.count == count, "calls were not read")
        all = min(all, end - start)
        journal = min(journal, end - opened)
      }
      await place.close()
      let bar = isShort ? nil : 150_000.0
      return [
        .time(section, "\(count.grouped) calls, processor", all, bar: bar),
        .time(section, "\(count.grouped) calls, processor, the journal alone", journal),
      ]
    }

    /// The time of the processor that this process has used, in microseconds.
    private static func processorTime() -> Double { Double(clock()) / Double(CLOCKS_PER_SEC) * 1e6 }
  }

  /// A journal in a file with calls that wait for a mutation that does not end.
  private final class WaitingCalls {
    let place: StoragePlace
    private let client: OperationClient
    private let gate = Gate()
    private var scopeCount = 0

    init(count: Int) async throws {
      let place = try StoragePlace()
      let client = place.makeClient()
      client.journal = MutationJournal(storage: place.storage, resumes: .manually)
      let store = client.store(for: WaitingMutation(gate: self.gate).scope("waiting").journaled(as: "waiting"))
      var calls: [EnqueuedCall<MutationState<Note, Int, any Error>>] = []
      for id in 0..<count { calls.append(store.enqueue(with: Note(id: id, text: "a note", isDone: false))) }
      for call in calls { try await call.accepted() }
      self.place = place
      self.client = client
    }

    func microsecondsOfCalls(_ count: Int) async throws -> Double {
      let note = Note(id: 1, text: "a note", isDone: false)
      // Each store of a mutation shows all of its calls. Those of earlier rounds would make later ones slower.
      self.client.clearStores(matching: ["note"])
      return try await microseconds {
        for _ in 0..<count {
          self.scopeCount += 1
          let mutation = NoteMutation(path: ["note", self.scopeCount]).scope("scope \(self.scopeCount)").journaled(
            as: "note"
          )
          try await self.client.store(for: mutation).mutate(with: note)
        }
      } / Double(count)
    }

    func end() async {
      await self.client.journal.removeAll()
      self.gate.open()
      await self.place.close()
    }
  }
#endif
