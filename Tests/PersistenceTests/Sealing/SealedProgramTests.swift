import OperationCore
import OperationMutation
import OperationPersistence
import OperationTesting
import SubjectFixtures
import TestFixtures
import Testing

/// Stores and a journal with a sealed storage, over several starts of a program.
@Suite(.bounded, .warningsAreIssues) struct SealedProgramTests {
  private let base = InMemoryStorage()
  private let server = Server()

  private func program(_ key: UInt64 = 1, _ previous: UInt64...) -> Program {
    Program(SealedStorage(self.base, key: TestKey(key), previousKeys: previous.map { TestKey($0) }))
  }

  private func journal(of program: Program) -> MutationJournal {
    let journal = program.makeJournal()
    journal.register(Send(server: self.server).scope("s").journaled(as: "send"), as: "send")
    return journal
  }

  @Test func `A program that is started again begins with its value, also with the next key`() async throws {
    let first = self.program()
    let store = first.store()
    store.currentValue = "secret text"
    #expect(await first.client.persistence.flush())
    for program in [self.program(), self.program(2, 1), self.program(1)] {
      await expect(program.client.restore(), equals: 1)
      expect(program.store().currentValue, equals: "secret text")
    }
    for entry in try await self.base.everything {
      #expect(!(Array(entry.key.utf8) + entry.value).contains(Array("text".utf8)))
    }
  }

  @Test func `A signed out user's values are gone from the base`() async throws {
    let program = self.program(2, 1)
    try await leaveValue("old", in: SealedStorage(self.base, key: TestKey(1)))
    let store = program.store(Script(), 2)
    store.currentValue = "new"
    #expect(await program.client.persistence.flush())
    try await program.client.persistence.removeAll()
    #expect(try await self.base.keys("sealed-value/").isEmpty)
  }

  @Test func `Calls of earlier starts are made in order, whichever key has sealed them`() async throws {
    try await leaveCalls(["a", "b"], in: self.program(1).storage)
    try await leaveCalls(["c"], in: self.program(2, 1).storage)
    let program = self.program(3, 2, 1)
    let journal = self.journal(of: program)
    expect(journal.texts, equals: ["a", "b", "c"])
    await journal.resume().settled()
    expect(self.server.done, equals: ["a", "b", "c"])
    #expect(try await self.base.keys("sealed-journal/").isEmpty)
  }

  @Test func `A call that does not open is shown and kept, the others are made, and it can be removed`() async throws {
    try await leaveCalls(["a", "b"], in: self.program().storage)
    let sealed = try await self.base.entries(withPrefix: "sealed-journal/")
    let damaged = StorageEntry(key: sealed[0].key, value: sealed[0].value.map { $0 ^ 1 })
    try await self.base.apply([.put(key: damaged.key, value: damaged.value)])
    let recorder = WarningRecorder()
    let journal = recorder.recording { self.journal(of: self.program()) }
    expect(recorder.warnings.map(\.code), equals: [.sealedEntryUnopened, .journalEntryUnreadable])
    expect(journal.statuses.count { $0 == .unreadable }, equals: 1)
    await journal.resume().settled()
    expect(self.server.done.count, equals: 1)
    try await expect(self.base.entries(withPrefix: "sealed-journal/"), equals: [damaged])
    let entry = try #require(journal.entries.first)
    expect(entry.status, equals: .unreadable)
    #expect(await journal.remove(entry.id))
    #expect(try await self.base.keys("sealed-journal/").isEmpty)
  }

  @Test func `Calls of another key are shown and kept, and made when the key is there again`() async throws {
    try await leaveCalls(["a", "b"], in: self.program(1).storage)
    let recorder = WarningRecorder()
    let (other, journal) = recorder.recording {
      let program = self.program(2)
      return (program, self.journal(of: program))
    }
    expect(
      recorder.warnings.map(\.code),
      equals: [.sealingKeyUnknown, .journalEntryUnreadable, .journalEntryUnreadable]
    )
    expect(journal.statuses, equals: [.unreadable, .unreadable])
    await journal.resume().settled()
    #expect(self.server.done.isEmpty)
    withExtendedLifetime(other) {}
    let again = self.journal(of: self.program(2, 1))
    await again.resume().settled()
    expect(self.server.done, equals: ["a", "b"])
  }

  @Test func `A journal takes the leases of a sealed storage only if processes can share its base`() async throws {
    let clock = ManualClock()
    let shared = SharedStorage(InMemoryStorage(elapsed: { clock.elapsed }))
    for (base, isShared) in [(shared, true), (self.base, false)] as [(any PersistentStorage, Bool)] {
      let program = Program(SealedStorage(base, key: TestKey(1)), clock: clock)
      let script = Script()
      let mutation = Send(server: self.server, script: script).scope("s").journaled(as: "send")
      program.makeJournal().register(mutation, as: "send")
      let store = program.client.store(for: mutation)
      let call = Task.immediate { try await store.mutate(with: Note(id: 1, text: "a")) }
      let run = try await script.next()
      let leasing = SealedStorage(base, key: TestKey(1))
      let lease = try await leasing.acquireLease("journal:ss/", owner: "other", for: .seconds(1))
      expect((lease != .held), equals: isShared)
      run.succeed("ok")
      _ = try await call.value
    }
  }

  /// Stores the value of a store as a program leaves it that has ended.
  private func leaveValue(_ text: String, in storage: any PersistentStorage) async throws {
    let program = Program(storage)
    let store = program.store()
    store.currentValue = text
    #expect(await program.client.persistence.flush())
  }
}
