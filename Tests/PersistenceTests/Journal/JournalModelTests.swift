import OperationCore
import OperationMutation
import OperationPausing
import OperationPersistence
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// Random mixtures of everything that changes entries, on a storage whose writes end in random order.
@Suite(.bounded, .warningsAreIssues) struct JournalModelTests {
  @Test(arguments: 0..<24) func `What was removed or has succeeded is gone after a restart, and the rest is there`(
    seed: Int
  ) async throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let storage = ShuffledStorage()
    for (scope, count) in [("s", 5), ("t", 4), (nil, 5)] as [(String?, Int)] {
      try await leaveCalls((0..<count).map { "\(scope ?? "")\($0)" }, in: storage.base, scope: scope)
    }
    let ids = Set(try await Program(storage.base).makeJournal().loadedIDs())
    let network = NetworkSwitch()
    let server = FlakyServer(seed: UInt64(seed) + 1_000)
    let program = Program(storage)
    let journal = program.makeJournal(attemptsBeforeDeadLetter: 1_000)
    journal.register(FlakySend(server: server).waits(until: network).journaled(as: "send"), as: "send")
    let removed = Log<String>()
    var tasks: [Task<Void, Never>] = []
    await allowingFailedCalls {
      for _ in 0..<80 {
        let id = ids.randomElement(using: &random) ?? ""
        switch Int.random(in: 0..<8, using: &random) {
        case 0:
          tasks.append(
            Task.immediate { if await journal.remove(id) { removed.append(id) } }
          )
        case 1: tasks.append(Task.immediate { await journal.retry(id) })
        case 2: tasks.append(Task.immediate { await journal.resume() })
        case 3: tasks.append(Task.immediate { await journal.resume().cancel() })
        case 4: network.turnOn()
        case 5: network.turnOff()
        default: storage.endOne(using: &random)
        }
      }
      storage.open()
      network.turnOn()
      for task in tasks { await task.value }
      await journal.resume().settled()
    }
    let expected = ids.subtracting(removed.all).subtracting(server.done)
    expect(Set(journal.entries.map(\.id)), equals: expected)
    expect(Set(try await Program(storage.base).makeJournal().loadedIDs()), equals: expected)
    #expect(journal.entries.allSatisfy { $0.status != .running })
  }

  @Test func `An entry that is removed while its attempt is counted does not come back`() async throws {
    let storage = TestStorage(writes: false)
    try await leaveCalls(["a"], in: storage.base)
    let program = Program(storage)
    let journal = program.makeJournal()
    journal.register(Send(server: Server()).scope("s").journaled(as: "send"), as: "send")
    let resumption = await journal.resume()
    // The count waits in the storage, and the removal is decided.
    try await storage.writing.arrivals(count: 1)
    let removal = Task.immediate { await journal.remove("old1") }
    storage.writing.open()
    // Its body begins before the entry is removed, or not at all.
    #expect(await removal.value)
    await resumption.settled()
    #expect(try await storage.base.keys().isEmpty)
  }

  @Test func `A call whose attempts are counted while it succeeds does not stay stored`() async throws {
    let storage = ShuffledStorage()
    try await leaveCalls(["a"], in: storage.base)
    let program = Program(storage)
    let journal = program.makeJournal()
    let mutation = Send(server: Server()).tryingAgain().scope("s").journaled(as: "send")
    journal.register(mutation, as: "send")
    storage.open()
    await journal.resume().settled()
    #expect(journal.entries.isEmpty)
    #expect(try await storage.base.keys().isEmpty)
  }

  @Test func `A removal that fails leaves the entry, with what was decided meanwhile`() async throws {
    let storage = TestStorage()
    try await leaveCalls(["a"], in: storage.base)
    let program = Program(storage)
    let journal = program.makeJournal()
    storage.failToWrite(true)
    await expectWarning(.storageFailed) { #expect(await !journal.remove("old1")) }
    expect(journal.entries.map(\.id), equals: ["old1"])
    storage.failToWrite(false)
    journal.register(Send(server: Server()).scope("s").journaled(as: "send"), as: "send")
    await journal.resume().settled()
    #expect(try await storage.keys().isEmpty)
  }

  @Test func `A change that cannot be stored does not keep others from being stored`() async throws {
    let storage = PickyStorage()
    let program = Program(storage)
    let journal = program.makeJournal()
    let script = Script()
    let store = program.client.store(for: Send(server: Server(), script: script).journaled(as: "send"))
    let calls = ["a", "bad", "b"].map { text in
      Task.immediate { try await store.mutate(with: Note(id: 1, text: text)) }
    }
    // The first is being written, and the other two wait for one batch.
    try await storage.gate.arrivals(count: 1)
    storage.gate.open()
    await #expect { try await calls[1].value } throws: { ($0 as? JournalError)?.code == .notAccepted }
    for _ in 0..<2 { try await script.next().succeed("ok") }
    _ = try await (calls[0].value, calls[2].value)
    #expect(journal.entries.isEmpty)
    #expect(try await storage.keys().isEmpty)
  }
}

extension MutationJournal {
  fileprivate func loadedIDs() async throws -> [String] {
    try await self.load()
    return self.entries.map(\.id)
  }
}

/// Runs a body whose calls may fail when they are made again. Any other warning is an issue.
private func allowingFailedCalls(_ body: () async -> Void) async {
  await OperationWarning.withReporter { warning in
    if warning.code != .journalCallFailed { Issue.record("\(warning)") }
  } operation: {
    await body()
  }
}

/// A storage whose writes wait until a test ends them, in any order.
private final class ShuffledStorage: PersistentStorage {
  private struct State {
    var isOpen = false
    var writes: [CheckedContinuation<Void, Never>] = []
  }

  let base = InMemoryStorage()
  private let state = Mutex(State())

  nonisolated(nonsending) func entries(withPrefix prefix: String) async throws -> [StorageEntry] {
    try await self.base.entries(withPrefix: prefix)
  }

  nonisolated(nonsending) func apply(_ batch: [StorageChange]) async throws { _ = try await self.apply(batch, if: []) }

  nonisolated(nonsending) func apply(
    _ batch: [StorageChange],
    if conditions: [StorageCondition]
  ) async throws -> StorageOutcome {
    await withCheckedContinuation { continuation in
      let isOpen = self.state.withLock { state in
        if !state.isOpen { state.writes.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
    return try await self.base.apply(batch, if: conditions)
  }

  nonisolated(nonsending) func close() async { await self.base.close() }

  func endOne(using random: inout SeededGenerator) {
    let count = self.state.withLock { $0.writes.count }
    guard count > 0 else { return }
    let index = Int.random(in: 0..<count, using: &random)
    self.state.withLock { $0.writes.remove(at: index) }.resume()
  }

  func open() {
    let writes = self.state.withLock { state in
      defer { state.writes = [] }
      state.isOpen = true
      return state.writes
    }
    for write in writes { write.resume() }
  }
}

/// A storage that refuses every batch with a certain text.
private final class PickyStorage: PersistentStorage {
  let gate = Gate()
  private let base = InMemoryStorage()

  nonisolated(nonsending) func entries(withPrefix prefix: String) async throws -> [StorageEntry] {
    try await self.base.entries(withPrefix: prefix)
  }

  nonisolated(nonsending) func apply(_ batch: [StorageChange]) async throws { _ = try await self.apply(batch, if: []) }

  nonisolated(nonsending) func apply(
    _ batch: [StorageChange],
    if conditions: [StorageCondition]
  ) async throws -> StorageOutcome {
    try await self.gate.wait()
    let isRefused = batch.contains { change in
      if case .put(_, let value) = change { String(decoding: value, as: UTF8.self).contains("bad") } else { false }
    }
    if isRefused { throw Broken() }
    return try await self.base.apply(batch, if: conditions)
  }

  nonisolated(nonsending) func close() async { await self.base.close() }
}

private final class FlakyServer: Sendable {
  private let state: Mutex<(random: SeededGenerator, done: Set<String>)>

  init(seed: UInt64) {
    self.state = Mutex((SeededGenerator(seed: seed), []))
  }

  var done: Set<String> { self.state.withLock { $0.done } }

  func receive(_ key: String?) throws {
    try self.state.withLock { state in
      if Int.random(in: 0..<3, using: &state.random) == 0 { throw Refused() }
      if let key { state.done.insert(key) }
    }
  }
}

private struct FlakySend: MutationRequest {
  let server: FlakyServer
  let path: OperationPath = ["send"]

  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Note,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, any Error>
  ) async throws {
    try self.server.receive(context.operationIdempotencyKey)
  }
}
