internal import OperationCore
internal import OperationMutation
internal import OperationPersistence

extension Benchmark {
  /// What the journal does for one call, beside few and beside many calls that are not made yet.
  static func pendingCalls(isShort: Bool) async throws -> [Row] {
    let section = "a journaled call while others are pending"
    let sizes = isShort ? [10, 2_000] : [10, 10_000]
    let journals = sizes.map { PendingJournal(count: $0) }
    let chunk = isShort ? 50 : 200
    var (accepted, made) = ([Double](), [Double]())
    for journal in journals {
      accepted.append(.infinity)
      made.append(.infinity)
      try await journal.fill()
    }
    // By turns, so that other work of the machine disturbs both.
    for _ in 0..<(isShort ? 3 : 15) {
      for (index, journal) in journals.enumerated() {
        accepted[index] = min(accepted[index], try await journal.microsecondsOfAccepting(chunk))
        made[index] = min(made[index], try await journal.microsecondsOfMaking(chunk))
      }
    }
    for journal in journals { journal.end() }
    func growth(_ name: String, _ costs: [Double]) -> Row {
      Row(
        section: section,
        name: name,
        value: costs[1] / costs[0],
        unit: .times,
        bar: Row.Limit(.atMost, 1.2),
        gate: Row.Limit(.atMost, 3)
      )
    }
    return zip(sizes, accepted).map { .time(section, "accept one behind \($0.grouped)", $1) }
      + [growth("growth of accepting", accepted)]
      + zip(sizes, made).map { .time(section, "make one beside \($0.grouped)", $1) }
      + [growth("growth of making", made)]
  }
}

/// A journal in memory with calls that wait for a mutation that does not end.
private final class PendingJournal: Sendable {
  private let count: Int
  private let client: OperationClient
  private let journal: MutationJournal
  private let gate = Gate()

  init(count: Int) {
    self.count = count
    let client = OperationClient(storeCreator: OperationClient.PlainStoreCreator())
    self.journal = MutationJournal(storage: InMemoryStorage(), resumes: .manually)
    client.journal = self.journal
    self.client = client
  }

  private var waiting: OperationStore<MutationState<Note, Int, any Error>> {
    self.client.store(for: WaitingMutation(gate: self.gate).scope("waiting").journaled(as: "waiting"))
  }

  func fill() async throws { try await self.accept(self.count) }

  /// Accepts calls, whose callers then stop to wait.
  private func accept(_ count: Int) async throws {
    let store = self.waiting
    let before = self.journal.entries.count
    for id in 0..<count {
      Task.immediate { try await store.mutate(with: Note(id: id, text: "a note", isDone: false)) }
    }
    precondition(self.journal.entries.count == before + count, "a call was not accepted at once")
  }

  func microsecondsOfAccepting(_ count: Int) async throws -> Double {
    let store = self.waiting
    let before = Set(self.journal.entries.map(\.id))
    var calls: [Task<Int, any Error>] = []
    calls.reserveCapacity(count)
    let time = try await microseconds {
      for id in 0..<count {
        calls.append(Task.immediate { try await store.mutate(with: Note(id: id, text: "a note", isDone: false)) })
      }
    }
    for call in calls { call.cancel() }
    for call in calls { _ = await call.result }
    for entry in self.journal.entries where !before.contains(entry.id) { await self.journal.remove(entry.id) }
    precondition(self.journal.entries.count == before.count, "a call was not removed")
    return time / Double(count)
  }

  func microsecondsOfMaking(_ count: Int) async throws -> Double {
    let store = self.client.store(for: NoteMutation(path: ["made"]).journaled(as: "made"))
    let note = Note(id: 1, text: "a note", isDone: false)
    return try await microseconds { for _ in 0..<count { try await store.mutate(with: note) } } / Double(count)
  }

  func end() { self.gate.open() }
}

/// A mutation that ends when a gate is opened.
struct WaitingMutation: MutationRequest {
  let gate: Gate

  var path: OperationPath { ["waiting"] }

  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Note,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    await self.gate.wait()
    return arguments.id
  }
}
