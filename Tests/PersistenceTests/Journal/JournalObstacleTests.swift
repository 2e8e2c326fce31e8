import OperationCore
import OperationMutation
import OperationPersistence
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// A storage whose writes fail with one error, when a gate opens.
private final class ObstructedStorage: PersistentStorage {
  private struct State: Sendable {
    var error: StorageError?
    /// Whether new entries are stored all the same, so that only the answer is lost.
    var losesAnswers = false
    /// The numbers of changes of all batches.
    var sizes: [Int] = []
  }

  let gate = Gate()
  private let base = InMemoryStorage()
  private let state = Mutex(State())

  var writeCount: Int { self.sizes.count }
  var sizes: [Int] { self.state.withLock { $0.sizes } }

  func fail(with code: StorageError.Code?, losingAnswers: Bool = false) {
    self.state.withLock { state in
      state.error = code.map { StorageError(code: $0, message: "Not now.") }
      state.losesAnswers = losingAnswers
    }
  }

  nonisolated(nonsending) func entries(withPrefix prefix: String) async throws -> [StorageEntry] {
    try await self.base.entries(withPrefix: prefix)
  }

  nonisolated(nonsending) func apply(_ batch: [StorageChange]) async throws { _ = try await self.apply(batch, if: []) }

  nonisolated(nonsending) func apply(
    _ batch: [StorageChange],
    if conditions: [StorageCondition]
  ) async throws -> StorageOutcome {
    let (error, losesAnswers) = self.state.withLock { state in
      state.sizes.append(batch.count)
      return (state.error, state.losesAnswers)
    }
    try await self.gate.wait()
    if let error {
      if losesAnswers, !batch.contains(where: \.isRemoval) { _ = try await self.base.apply(batch, if: conditions) }
      throw error
    }
    return try await self.base.apply(batch, if: conditions)
  }

  nonisolated(nonsending) func close() async {}
}

extension StorageChange {
  fileprivate var isRemoval: Bool { if case .remove = self { true } else { false } }
}

/// An error that concerns the whole storage is answered to all callers at once.
@Suite(.bounded, .warningsAreIssues) struct JournalObstacleTests {
  private let server = Server()
  private let storage = ObstructedStorage()

  private func callers(_ count: Int, in program: Program) -> [Task<String, any Error>] {
    let store = program.client.store(for: Send(server: self.server).journaled(as: "send"))
    return (0..<count).map { number in
      Task.immediate { try await store.mutate(with: Note(id: number, text: "\(number)")) }
    }
  }

  @Test(arguments: [StorageError.Code.busy, .full, .readOnly, .closed])
  func `All callers are refused with one or two writes`(code: StorageError.Code) async throws {
    let program = Program(self.storage)
    _ = program.makeJournal()
    self.storage.fail(with: code)
    let calls = self.callers(300, in: program)
    self.storage.gate.open()
    for call in calls {
      await #expect { try await call.value } throws: { error in
        ((error as? JournalError)?.cause as? StorageError)?.code == code
      }
    }
    // The first call is written by itself, and then the removals of what may have been written.
    #expect(self.storage.writeCount <= 4)
    #expect(self.server.requests.isEmpty)

    self.storage.fail(with: nil)
    for call in self.callers(3, in: program) { try await expect(call.value, equals: "ok") }
    expect(self.server.requests.count, equals: 3)
  }

  @Test func `A call that waits when the storage is closed is not sent, and is made once after the next start`()
    async throws
  {
    let script = Script()
    let program = Program(self.storage)
    let journal = program.makeJournal()
    self.storage.gate.open()
    let mutation = Send(server: self.server, script: script).scope("s").journaled(as: "send")
    journal.register(mutation, as: "send")
    let store = program.client.store(for: mutation)
    _ = try await warningCodes {
      let first = Task.immediate { try await store.mutate(with: Note(id: 1, text: "a")) }
      let run = try await script.next()
      let second = Task.immediate { try await store.mutate(with: Note(id: 2, text: "b")) }
      try await journal.entries(count: 2)
      self.storage.fail(with: .closed)
      run.succeed("ok")
      try await expect(first.value, equals: "ok")
      await #expect { try await second.value } throws: { ($0 as? JournalError)?.code == .stopped }
    }
    expect(self.server.requests.map(\.text), equals: ["a"])
    self.storage.fail(with: nil)
    script.enqueue(.value("ok"))
    await journal.resume().settled()
    expect(self.server.requests.map(\.text), equals: ["a", "b"])
    #expect(journal.entries.isEmpty)
  }

  @Test func `An error that may concern one call refuses that one`() async throws {
    let program = Program(self.storage)
    _ = program.makeJournal()
    self.storage.fail(with: .failed)
    let calls = self.callers(10, in: program)
    self.storage.gate.open()
    for call in calls { await #expect(throws: JournalError.self) { try await call.value } }
    #expect(self.storage.writeCount > 10)
  }

  @Test(arguments: [StorageError.Code.full, .readOnly, .closed])
  func `Calls that were not stored for sure make the writes of later calls no larger`(
    code: StorageError.Code
  )
    async throws
  {
    let program = Program(self.storage)
    _ = program.makeJournal()
    self.storage.gate.open()
    self.storage.fail(with: code)
    for _ in 0..<200 { for call in self.callers(1, in: program) { _ = await call.result } }
    expect(self.storage.sizes.count, equals: 200)
    expect(Set(self.storage.sizes), equals: [1])
    #expect(self.server.requests.isEmpty)
  }

  @Test(arguments: [StorageError.Code.busy, .failed])
  func `Calls that may be stored make the writes of later calls larger by a bound, and are removed afterwards`(
    code: StorageError.Code
  ) async throws {
    let program = Program(self.storage)
    let journal = program.makeJournal()
    self.storage.gate.open()
    self.storage.fail(with: code, losingAnswers: true)
    for _ in 0..<200 { for call in self.callers(1, in: program) { _ = await call.result } }
    // With the removals, and each by itself: the new call, and one of the removals.
    #expect(self.storage.writeCount <= 3 * 200)
    #expect(try await !self.storage.keys().isEmpty)
    #expect((self.storage.sizes.max() ?? 0) <= 33)
    self.storage.fail(with: nil)
    for call in self.callers(1, in: program) { try await expect(call.value, equals: "ok") }
    #expect(await journal.flush())
    #expect(try await self.storage.keys().isEmpty)
    expect(self.server.requests.count, equals: 1)
  }

  @Test func `While a thousand calls that may be stored cannot be removed, no further one is stored`() async throws {
    let program = Program(self.storage)
    let journal = program.makeJournal()
    self.storage.gate.open()
    self.storage.fail(with: .failed, losingAnswers: true)
    for _ in 0..<1_100 {
      for call in self.callers(1, in: program) {
        await #expect { try await call.value } throws: { ($0 as? JournalError)?.code == .notAccepted }
      }
    }
    try await expect(self.storage.keys("journal/").count, equals: 1_000)
    self.storage.fail(with: nil)
    for call in self.callers(1, in: program) { try await expect(call.value, equals: "ok") }
    #expect(await journal.flush())
    #expect(try await self.storage.keys().isEmpty)
    expect(self.server.requests.count, equals: 1)
  }
}
