import OperationCore
import OperationMutation
import OperationPersistence
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// A storage with leases that another program keeps locked: a task that asks for a lease waits for a gate, and may fail then.
private final class LockedStorage: LeasingStorage {
  private struct State: Sendable {
    var gate = Gate(isOpen: true)
    var error: StorageError?
    var askCount = 0
  }

  private let base = InMemoryStorage()
  private let state = Mutex(State())

  /// How often a lease was asked for since the storage was locked.
  var askCount: Int { self.state.withLock { $0.askCount } }

  /// Locks the storage until the gate is open.
  func lock(failing code: StorageError.Code? = nil) -> Gate {
    let gate = Gate()
    self.state.withLock { state in
      state = State(gate: gate, error: code.map { StorageError(code: $0, message: "Another program writes.") })
    }
    return gate
  }

  nonisolated(nonsending) func entries(withPrefix prefix: String) async throws -> [StorageEntry] {
    try await self.base.entries(withPrefix: prefix)
  }

  nonisolated(nonsending) func apply(_ batch: [StorageChange]) async throws { _ = try await self.apply(batch, if: []) }

  nonisolated(nonsending) func apply(
    _ batch: [StorageChange],
    if conditions: [StorageCondition]
  ) async throws -> StorageOutcome { try await self.base.apply(batch, if: conditions) }

  nonisolated(nonsending) func acquireLease(
    _ name: String,
    owner: String,
    for duration: Duration
  ) async throws -> StorageLease {
    let (gate, error) = self.state.withLock { state in
      state.askCount += 1
      return (state.gate, state.error)
    }
    try await gate.wait()
    if let error { throw error }
    return try await self.base.acquireLease(name, owner: owner, for: duration)
  }

  nonisolated(nonsending) func releaseLease(_ name: String, owner: String) async throws {
    try await self.base.releaseLease(name, owner: owner)
  }

  nonisolated(nonsending) func close() async {}
}

/// Callers of a journal that was idle, so that it has released its lease, while another program keeps the storage locked.
@Suite(.bounded, .warningsAreIssues) struct JournalLockedFileTests {
  private let server = Server()
  private let storage = LockedStorage()
  private let executor = SteppedExecutor()

  private func caller(in program: Program) -> @Sendable (Int) -> Task<String, any Error> {
    let store = program.client.store(for: Send(server: self.server).journaled(as: "send"))
    return { [executor] number in
      Task(executorPreference: executor) { try await store.mutate(with: Note(id: number, text: "\(number)")) }
    }
  }

  private static func isOfStorage(_ error: any Error, _ code: StorageError.Code) -> Bool {
    ((error as? JournalError)?.cause as? StorageError)?.code == code
  }

  @Test(arguments: [StorageError.Code.busy, nil])
  func `Callers wait together for the lease of their journal, and hear together of an error`(
    code: StorageError.Code?
  ) async throws {
    let program = Program(self.storage, executor: self.executor)
    let journal = program.makeJournal()
    let call = self.caller(in: program)
    let gate = self.storage.lock(failing: code)
    let warnings = try await warningCodes {
      let calls = (0..<32).map(call)
      self.executor.runAll()
      gate.open()
      self.executor.runAll()
      // The journal itself asks again, because it was woken meanwhile.
      #expect(self.storage.askCount <= 2)
      for call in calls {
        guard let code else {
          try await expect(call.value, equals: "ok")
          continue
        }
        await #expect { try await call.value } throws: { Self.isOfStorage($0, code) }
      }
    }
    expect(warnings, equals: code == nil ? [] : [.storageFailed])
    expect(self.server.requests.count, equals: code == nil ? 32 : 0)
    #expect(journal.entries.isEmpty)
  }

  @Test func `A caller that is cancelled meanwhile ends no wait of the others, and its call is stored`() async throws {
    let program = Program(self.storage, executor: self.executor)
    let journal = program.makeJournal()
    let call = self.caller(in: program)
    // After that the journal waits before it asks again, so the next caller is the first that does.
    self.storage.lock(failing: .busy).open()
    let refused = expectWarning(.storageFailed) {
      defer { self.executor.runAll() }
      return call(0)
    }
    await #expect { try await refused.value } throws: { Self.isOfStorage($0, .busy) }
    let gate = self.storage.lock()
    let calls = (1...4).map(call)
    self.executor.runAll()
    calls[0].cancel()
    self.executor.runAll()
    gate.open()
    self.executor.runAll()
    #expect(self.storage.askCount <= 2)
    await #expect(throws: (any Error).self) { try await calls[0].value }
    for call in calls.dropFirst() { try await expect(call.value, equals: "ok") }
    expect(journal.texts, equals: ["1"])
  }

  @Test func `A lease that cannot be asked for, for a reason of its own, refuses no call`() async throws {
    let program = Program(self.storage, executor: self.executor)
    _ = program.makeJournal()
    let call = self.caller(in: program)
    self.storage.lock(failing: .failed).open()
    let stored = expectWarning(.storageFailed) {
      defer { self.executor.runAll() }
      return call(0)
    }
    self.storage.lock().open()
    program.clock.advance(by: .milliseconds(200))
    self.executor.runAll()
    try await expect(stored.value, equals: "ok")
  }
}
