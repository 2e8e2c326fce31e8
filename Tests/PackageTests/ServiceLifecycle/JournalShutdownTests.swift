#if SwiftOperationServiceLifecycle
  import OperationBackoff
  import OperationCore
  import OperationMutation
  import OperationPersistence
  import OperationServiceLifecycle
  import OperationTesting
  import ServiceLifecycle
  import ServiceLifecycleTestKit
  import TestFixtures
  import Testing

  /// Shutdowns of a client whose journal makes stored calls.
  @Suite(.bounded, .warningsAreIssues) struct JournalShutdownTests {
    private struct Refused: Error {}

    private let program = Program()
    private let script = Script()

    private var change: some MutationRequest<Int, Int, any Error> { self.change(by: self.script) }

    private func change(by script: Script) -> some MutationRequest<Int, Int, any Error> {
      Change(script: script, path: ["change"]).scope("scope").journaled(
        as: "change",
        failsForGood: .where { _ in false }
      )
    }

    /// A storage with calls as a process leaves them that ends before they have ended.
    private func storage(withCalls count: Int) async throws -> InMemoryStorage {
      let storage = InMemoryStorage()
      let client = OperationClient()
      client.journal = MutationJournal(storage: storage, resumes: .manually)
      let script = Script()
      let store = client.store(for: self.change(by: script))
      for number in 0..<count { try await store.enqueue(with: number).accepted() }
      let run = try await script.next()
      let left = InMemoryStorage(entries: try await storage.entries(withPrefix: ""))
      run.succeed(0)
      for _ in 1..<count { try await script.next().succeed(0) }
      return left
    }

    /// Gives the client a journal that begins to make the stored calls.
    private func resume(_ storage: InMemoryStorage, bySelf: Bool) async -> MutationJournal {
      let journal = MutationJournal(storage: storage, resumes: bySelf ? .when(.always(true)) : .manually)
      self.program.client.journal = journal
      journal.register(self.change, as: "change")
      if !bySelf { await journal.resume() }
      return journal
    }

    @Test(arguments: [true, false])
    func `A shutdown waits for the stored call that is being made, and no other begins`(bySelf: Bool) async throws {
      let (program, service, script) = (self.program, self.program.service, self.script)
      let storage = try await self.storage(withCalls: 5)
      let journal = await self.resume(storage, bySelf: bySelf)
      let call = try await script.next()
      let timers = program.clock.sleeperCount()
      try await testGracefulShutdown { trigger in
        let run = Task { try await service.run() }
        trigger.triggerGracefulShutdown()
        // One more waits for the deadline of the mutations.
        try await program.clock.sleepers(count: timers + 1)
        #expect(program.reports.isEmpty)
        call.succeed(1)
        try await run.value
      }
      expect(program.reports.map(\.cutOff), equals: [[]])
      expect(script.runCount, equals: 1)
      await journal.resume().settled()
      program.clock.advance(by: .seconds(3_600))
      #expect(!program.client.runningStores().contains { $0.isLoading })
      expect(script.runCount, equals: 1)
      expect(journal.entries.count, equals: 4)
      try await expect(storage.entries(withPrefix: "").count, equals: 4)
    }

    @Test func `A stored call that is still made at the deadline is reported and stays stored`() async throws {
      let (program, service, script) = (self.program, self.program.service, self.script)
      let storage = try await self.storage(withCalls: 3)
      let journal = await self.resume(storage, bySelf: true)
      _ = try await script.next()
      let timers = program.clock.sleeperCount()
      try await testGracefulShutdown { trigger in
        let run = Task { try await service.run() }
        trigger.triggerGracefulShutdown()
        try await program.clock.sleepers(count: timers + 1)
        program.clock.advance(by: .seconds(10))
        try await run.value
      }
      let report = try #require(program.reports.first)
      #expect(program.reports.count == 1 && report.mutations.map(\.path) == [["change"]])
      program.clock.advance(by: .seconds(3_600))
      expect(script.runCount, equals: 1)
      expect(journal.entries.count, equals: 3)
      try await expect(storage.entries(withPrefix: "").count, equals: 3)
    }

    @Test func `Callers behind a stored call that waits for its backoff do not hold a shutdown`() async throws {
      let (program, service, script) = (self.program, self.program.service, self.script)
      let storage = InMemoryStorage()
      let journal = MutationJournal(
        storage: storage,
        resumes: .when(.always(true), backoff: .constant(.seconds(20)))
      )
      program.client.journal = journal
      journal.register(self.change, as: "change")
      let store = program.client.store(for: self.change)
      let first = Task.immediate { try await store.mutate(with: 0) }
      try await script.next().fail(Refused())
      await #expect(throws: Refused.self) { try await first.value }
      let calls = (1...50).map { number in Task.immediate { try await store.mutate(with: number) } }
      try await testGracefulShutdown { trigger in
        trigger.triggerGracefulShutdown()
        // The time stands still, so no deadline ends a wait.
        try await service.run()
      }
      for call in calls {
        await #expect { try await call.value } throws: { ($0 as? JournalError)?.code == .stopped }
      }
      expect(program.reports.map(\.cutOff), equals: [[]])
      program.clock.advance(by: .seconds(60))
      expect(script.runCount, equals: 1)
      try await expect(storage.entries(withPrefix: "").count, equals: 51)
    }
  }
#endif
