#if SwiftOperationServiceLifecycle
  import OperationCore
  import OperationMutation
  import OperationServiceLifecycle
  import OperationTesting
  import ServiceLifecycle
  import ServiceLifecycleTestKit
  import Synchronization
  import TestFixtures
  import Testing

  /// A mutation that returns what it was called with, and passes a gate before it does.
  private struct Call: MutationRequest {
    let gate: Gate
    let worker: Int

    var path: OperationPath { ["call", self.worker] }

    func mutate(
      isolation: isolated (any Actor)?,
      with arguments: Int,
      in context: OperationContext,
      with continuation: OperationContinuation<Int, any Error>
    ) async throws -> Int {
      try await self.gate.wait()
      return arguments
    }
  }

  /// Shutdowns of a program whose callers do not stop to call.
  @Suite(.bounded, .warningsAreIssues) struct LoadTests {
    private let program = Program()

    @Test func `A shutdown drains calls that go on while it waits, and cuts none of them off`() async throws {
      let (program, service, gate) = (self.program, self.program.service, Gate())
      let (workers, calls) = (64, 40)
      let hasBegun = Gate()
      let results = Task {
        try await withThrowingTaskGroup(of: Int.self) { group in
          for worker in 0..<workers {
            group.addTask {
              let store = program.client.store(for: Call(gate: gate, worker: worker))
              var sum = 0
              for number in 0..<calls {
                // Two calls of each worker are under way at once, so that one is when the other has ended.
                async let one = store.mutate(with: number)
                async let other = store.mutate(with: number)
                sum += try await one + other
              }
              return sum
            }
          }
          return try await group.reduce(0, +)
        }
      }
      try await gate.arrivals(count: 2 * workers)
      try await testGracefulShutdown { trigger in
        let run = Task {
          hasBegun.open()
          try await service.run()
        }
        try await hasBegun.wait()
        trigger.triggerGracefulShutdown()
        try await program.clock.sleepers(count: 1)
        #expect(program.reports.isEmpty)
        gate.open()
        try await run.value
      }
      // The time stands still, so no deadline has cut a call off: those that came after the report have run as well.
      try await expect(results.value, equals: workers * calls * (calls - 1))
      expect(program.reports.map(\.mutations), equals: [[]])
      expect(program.clock.sleeperCount(), equals: 0)
    }

    @Test func `Thousands of mutations and queries end, and each query that was cut off is reported once`() async throws
    {
      let (program, service, gate) = (self.program, self.program.service, Gate())
      let script = Script()
      let count = 2_000
      let queries = (0..<count).map { program.client.store(for: script.query(path: ["query", $0])) }
      let fetches = queries.map { query in Task { try await query.fetch() } }
      try await script.runs(count: count)
      let mutations = (0..<count).map { number in
        Task { try await program.client.store(for: Call(gate: gate, worker: number)).mutate(with: number) }
      }
      try await gate.arrivals(count: count)
      try await testGracefulShutdown { trigger in
        let run = Task { try await service.run() }
        trigger.triggerGracefulShutdown()
        try await program.clock.sleepers(count: 1)
        #expect(queries.allSatisfy { $0.isLoading })
        gate.open()
        try await run.value
      }
      for (number, mutation) in mutations.enumerated() { try await expect(mutation.value, equals: number) }
      for fetch in fetches { await #expect(throws: CancellationError.self) { try await fetch.value } }
      let report = try #require(program.reports.first)
      #expect(program.reports.count == 1 && report.mutations.isEmpty)
      #expect(Set(report.cutOff.map(\.path)) == Set(queries.map(\.path)) && report.cutOff.count == count)
    }
  }
#endif
