import OperationCore
import OperationMutation
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct FlushTests {
  @Test func `A client is flushed with its values`() async throws {
    let program = Program()
    let store = program.store(Script(default: .value("a")))
    _ = try await store.fetch()
    #expect(try await program.storage.keys().isEmpty)
    #expect(await program.client.flush())
    try await expect(program.storage.keys().count, equals: 1)
  }

  @Test func `A client is flushed with the journal entries that could not be removed`() async throws {
    let storage = TestStorage()
    let program = Program(storage)
    let journal = program.makeJournal()
    let script = Script()
    let store = program.client.store(for: Send(server: Server(), script: script).journaled(as: "send"))
    try await expectWarning(.storageFailed) {
      let call = Task.immediate { try await store.mutate(with: Note(id: 1, text: "a")) }
      let run = try await script.next()
      storage.failToWrite(true)
      run.succeed("ok")
      _ = try await call.value
    }
    #expect(journal.entries.isEmpty)
    try await expect(storage.base.keys().count, equals: 1)
    await expectWarning(.storageFailed) { #expect(!(await program.client.flush())) }
    try await expect(storage.base.keys().count, equals: 1)
    storage.failToWrite(false)
    #expect(await program.client.flush())
    #expect(try await storage.base.keys().isEmpty)
    #expect(await program.client.flush())
    expect(storage.batches.count, equals: 2)
  }
}
