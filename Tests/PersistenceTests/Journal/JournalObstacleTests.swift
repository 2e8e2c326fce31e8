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
    var writeCount = 0
  }

  let gate = Gate()
  private let base = InMemoryStorage()
  private let state = Mutex(State())

  var writeCount: Int { self.state.withLock { $0.writeCount } }

  func fail(with code: StorageError.Code?) {
    self.state.withLock { state in state.error = code.map { StorageError(code: $0, message: "Not now.") } }
  }

  nonisolated(nonsending) func entries(withPrefix prefix: String) async throws -> [StorageEntry] {
    try await self.base.entries(withPrefix: prefix)
  }

  nonisolated(nonsending) func apply(_ batch: [StorageChange]) async throws { _ = try await self.apply(batch, if: []) }

  nonisolated(nonsending) func apply(
    _ batch: [StorageChange],
    if conditions: [StorageCondition]
  ) async throws -> StorageOutcome {
    let error = self.state.withLock { state in
      state.writeCount += 1
      return state.error
    }
    try await self.gate.wait()
    if let error { throw error }
    return try await self.base.apply(batch, if: conditions)
  }

  nonisolated(nonsending) func close() async {}
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

  @Test func `An error that may concern one call refuses that one`() async throws {
    let program = Program(self.storage)
    _ = program.makeJournal()
    self.storage.fail(with: .failed)
    let calls = self.callers(10, in: program)
    self.storage.gate.open()
    for call in calls { await #expect(throws: JournalError.self) { try await call.value } }
    #expect(self.storage.writeCount > 10)
  }
}
