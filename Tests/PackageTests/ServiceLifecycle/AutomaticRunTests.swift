#if SwiftOperationServiceLifecycle
  import OperationCore
  import OperationServiceLifecycle
  import OperationTesting
  import ServiceLifecycle
  import ServiceLifecycleTestKit
  import TestFixtures
  import Testing

  @Suite(.bounded, .warningsAreIssues) struct AutomaticRunTests {
    private let program = Program()

    /// Shuts the program down, in which nothing runs.
    private func shutDown() async throws {
      let service = self.program.service
      try await testGracefulShutdown { trigger in
        trigger.triggerGracefulShutdown()
        try await service.run()
      }
    }

    @Test func `After a shutdown nothing runs for subscribers, and callers can still run operations`() async throws {
      let script = Script(default: .value(1))
      let client = self.program.client
      let query = script.query().rerun(every: .seconds(1)).enableAutomaticRunning(onlyWhen: .always(true))
      let store = client.store(for: query)
      let subscription = store.subscribe(with: QueryEventHandler())
      try await script.runs(count: 1)
      try await script.noActiveRuns()
      try await self.program.clock.sleepers(count: 1)
      self.program.clock.advance(by: .seconds(1))
      try await script.runs(count: 2)
      try await script.noActiveRuns()

      try await self.program.clock.sleepers(count: 1)
      try await self.shutDown()
      self.program.clock.advance(by: .seconds(5))
      await client.invalidate().settled()
      let second = store.subscribe(with: QueryEventHandler())
      let otherQuery = script.query(path: ["other"]).enableAutomaticRunning(onlyWhen: .always(true))
      let other = client.store(for: otherQuery).subscribe(with: QueryEventHandler())
      expect(script.runCount, equals: 2)
      try await expect(store.fetch(), equals: 1)
      expect(script.runCount, equals: 3)
      for subscription in [subscription, second, other] { subscription.cancel() }
    }

    @Test func `A client that is not shut down still runs for subscribers`() async throws {
      let script = Script(default: .value(1))
      let other = OperationClient()
      try await self.shutDown()
      let query = script.query().enableAutomaticRunning(onlyWhen: .always(true))
      let subscription = other.store(for: query).subscribe(with: QueryEventHandler())
      try await script.runs(count: 1)
      subscription.cancel()
    }
  }
#endif
