#if SwiftOperationServiceLifecycle
  import OperationCore
  import OperationMutation
  import OperationServiceLifecycle
  import OperationTesting
  import ServiceLifecycle
  import ServiceLifecycleTestKit
  import TestFixtures
  import Testing

  @Suite(.bounded, .warningsAreIssues) struct ShutdownTests {
    private let program = Program()
    private let queryScript = Script()
    private let changeScript = Script()

    @Test func `A shutdown without runs returns at once and cancels nothing`() async throws {
      let (program, service) = (self.program, self.program.service)
      try await testGracefulShutdown { trigger in
        let run = Task { try await service.run() }
        #expect(program.reports.isEmpty)
        trigger.triggerGracefulShutdown()
        try await run.value
      }
      expect(self.program.reports.map(\.cutOff), equals: [[]])
    }

    @Test func `The longest deadline is one that never comes`() async throws {
      let (program, reports) = (self.program, Log<OperationShutdownReport>())
      program.clock.advance(by: .seconds(1))
      let service = OperationClientService(program.client, deadline: Duration(attoseconds: .max)) { reports.append($0) }
      try await testGracefulShutdown { trigger in
        let run = Task { try await service.run() }
        trigger.triggerGracefulShutdown()
        try await run.value
      }
      expect(reports.all.map(\.cutOff), equals: [[]])
    }

    @Test func `A mutation finishes, and then queries are cancelled`() async throws {
      let (program, service) = (self.program, self.program.service)
      let query = program.client.store(for: self.queryScript.query(path: ["query"]), initialValue: 1)
      let change = program.change(self.changeScript)
      let fetch = Task { try await query.fetch() }
      let mutate = Task { try await change.mutate(with: 7) }
      _ = try await self.queryScript.next()
      let mutation = try await self.changeScript.next()

      try await testGracefulShutdown { trigger in
        let run = Task { try await service.run() }
        trigger.triggerGracefulShutdown()
        try await program.clock.sleepers(count: 1)
        #expect(program.reports.isEmpty)
        #expect(query.isLoading)
        mutation.succeed(8)
        try await run.value
      }
      try await expect(mutate.value, equals: 8)
      await #expect(throws: CancellationError.self) { try await fetch.value }
      expect(query.currentValue, equals: 1)
      #expect(query.error == nil)
      let cut = OperationShutdownReport.Run(path: ["query"], kind: "ScriptedQuery<Int, Error>", isMutation: false)
      expect(program.reports.map(\.cutOff), equals: [[cut]])
      expect(program.clock.sleeperCount(), equals: 0)
    }

    @Test func `A mutation gets the value of the query that it waits for`() async throws {
      let (program, service) = (self.program, self.program.service)
      let token = program.client.store(for: self.queryScript.query(path: ["token"]))
      let change = program.client.store(for: DependentChange(token: token))
      let mutate = Task { try await change.mutate(with: 7) }
      let query = try await self.queryScript.next()
      try await testGracefulShutdown { trigger in
        let run = Task { try await service.run() }
        trigger.triggerGracefulShutdown()
        try await program.clock.sleepers(count: 1)
        query.succeed(5)
        try await run.value
      }
      try await expect(mutate.value, equals: 12)
      expect(program.reports.map(\.cutOff), equals: [[]])
    }

    @Test func `A run that ignores its cancellation is reported before it ends`() async throws {
      let (program, service) = (self.program, self.program.service)
      let gate = Gate()
      let change = program.client.store(for: StubbornChange(gate: gate))
      let mutate = Task { try await change.mutate(with: 7) }
      try await gate.arrivals(count: 1)
      try await testGracefulShutdown { trigger in
        let run = Task { try await service.run() }
        trigger.triggerGracefulShutdown()
        try await program.clock.sleepers(count: 1)
        program.clock.advance(by: .seconds(10))
        try await program.hasReported.wait()
        expect(program.reports.map(\.mutations.count), equals: [1])
        gate.open()
        try await run.value
      }
      try await expect(mutate.value, equals: 7)
    }

    @Test func `At the deadline a mutation is cancelled and reported`() async throws {
      let (program, service) = (self.program, self.program.service)
      let change = program.change(self.changeScript)
      let mutate = Task { try await change.mutate(with: 7) }
      _ = try await self.changeScript.next()
      try await testGracefulShutdown { trigger in
        let run = Task { try await service.run() }
        trigger.triggerGracefulShutdown()
        try await program.clock.sleepers(count: 1)
        program.clock.advance(by: .seconds(9))
        #expect(program.reports.isEmpty)
        program.clock.advance(by: .seconds(1))
        try await run.value
      }
      await #expect(throws: CancellationError.self) { try await mutate.value }
      expect(program.reports.map(\.mutations), equals: [[.init(path: ["change"], kind: "Change", isMutation: true)]])
    }

    @Test func `A shutdown also waits for a mutation that starts during the shutdown`() async throws {
      let (program, service) = (self.program, self.program.service)
      let (first, second) = (program.change(self.changeScript), program.change(self.changeScript, at: ["second"]))
      let mutate = Task { try await first.mutate(with: 1) }
      let mutation = try await self.changeScript.next()
      try await testGracefulShutdown { trigger in
        let run = Task { try await service.run() }
        trigger.triggerGracefulShutdown()
        try await program.clock.sleepers(count: 1)
        let late = Task { try await second.mutate(with: 2) }
        let lateMutation = try await self.changeScript.next()
        mutation.succeed(1)
        try await expect(mutate.value, equals: 1)
        #expect(program.reports.isEmpty)
        lateMutation.succeed(2)
        try await expect(late.value, equals: 2)
        try await run.value
      }
      expect(self.program.reports.map(\.cutOff), equals: [[]])
    }

    @Test func `A cancelled service cancels all runs at once`() async throws {
      let service = self.program.service
      let change = self.program.change(self.changeScript)
      let mutate = Task { try await change.mutate(with: 7) }
      _ = try await self.changeScript.next()
      let run = Task { try await service.run() }
      run.cancel()
      await #expect(throws: CancellationError.self) { try await run.value }
      await #expect(throws: CancellationError.self) { try await mutate.value }
      expect(self.program.reports.map(\.mutations.count), equals: [1])
      expect(self.program.clock.sleeperCount(), equals: 0)
    }
  }
#endif
