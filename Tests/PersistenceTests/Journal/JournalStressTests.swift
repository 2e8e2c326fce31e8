import OperationCore
import OperationMutation
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct JournalStressTests {
  @Test(arguments: 0..<ModelRuns.count(3, parts: 200))
  func `Calls that are cancelled at any time are still made, each once and in order`(seed: Int) async throws {
    let server = Server()
    let program = Program(SlowStorage())
    let journal = program.makeJournal(attemptsBeforeDeadLetter: 100)
    let scopes = (0..<4).map { scope in
      let path: OperationPath = ["send", scope]
      let mutation = Send(server: server, path: path).scope(scope).journaled(as: "send \(scope)")
      journal.register(mutation, as: "send \(scope)")
      return program.client.store(for: mutation)
    }
    await withTaskGroup(of: Void.self) { group in
      for (scope, store) in scopes.enumerated() {
        group.addTask {
          var random = SeededGenerator(seed: UInt64(seed * 10 + scope))
          var calls: [Task<String, any Error>] = []
          for number in 0..<40 {
            calls.append(
              Task.immediate { try await store.mutate(with: Note(id: scope, text: "\(scope)-\(number)")) }
            )
            let victim = Int.random(in: 0..<120, using: &random)
            if victim < calls.count { calls[victim].cancel() }
            if number % 9 == 0 { _ = try? await calls[number].value }
          }
          for call in calls { _ = try? await call.value }
        }
      }
    }
    await journal.resume().settled()
    #expect(journal.entries.isEmpty)
    #expect(try await program.storage.keys().isEmpty)
    for scope in 0..<4 {
      let done = server.done.filter { $0.hasPrefix("\(scope)-") }
      expect(done, equals: (0..<40).map { "\(scope)-\($0)" })
    }
  }

  @Test func `Hundreds of calls wait in one scope, and none is left`() async throws {
    let count = ModelRuns.isThorough ? 10_000 : 400
    let program = Program()
    let journal = program.makeJournal()
    let script = Script()
    script.enqueue(.suspend)
    let counting = CountingMutation(script: script)
    let store = program.client.store(for: counting.scope("s").journaled(as: "count"))
    let calls = (0..<count).map { number in Task.immediate { try await store.mutate(with: number) } }
    expect(journal.entries.count, equals: count)
    try await script.next().succeed("ok")
    for call in calls { _ = try await call.value }
    #expect(journal.entries.isEmpty)
  }
}

/// Suspends at each call, so that concurrent calls interleave.
private actor SlowStorage: PersistentStorage {
  private let base = InMemoryStorage()

  func entries(withPrefix prefix: String) async throws -> [StorageEntry] {
    try await self.base.entries(withPrefix: prefix)
  }

  func apply(_ batch: [StorageChange]) async throws { _ = try await self.apply(batch, if: []) }

  func apply(
    _ batch: [StorageChange],
    if conditions: [StorageCondition]
  ) async throws -> StorageOutcome {
    try await self.base.apply(batch, if: conditions)
  }

  func close() async { await self.base.close() }
}

/// The first call waits for a test, and the others do not.
private struct CountingMutation: MutationRequest {
  let script: Script
  let path: OperationPath = ["count"]

  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Int,
    in context: OperationContext,
    with continuation: OperationContinuation<String, any Error>
  ) async throws -> String {
    arguments == 0 ? try await self.script.run(in: context, with: continuation) : "ok"
  }
}
