#if SwiftOperationMetrics
  import OperationCore
  import OperationDedupe
  import OperationMetrics
  import OperationRetry
  import OperationTesting
  import TestFixtures
  import Testing

  /// An operation that returns at once.
  private protocol Immediate: OperationRequest {}

  extension Immediate {
    func run(
      isolation: isolated (any Actor)?,
      in context: OperationContext,
      with continuation: OperationContinuation<Int, Never>
    ) async -> Int { 1 }
  }

  private enum Post {
    struct Query: Immediate {}
  }

  private enum User {
    struct Query: Immediate {}
  }

  @Suite(.bounded, .warningsAreIssues) struct MeasurementTests {
    private let bench = Bench()

    @Test func `A run is counted with its attempts, retries and duration`() async throws {
      self.bench.script.enqueue(.error(Refused()), .error(Refused()), .suspend)
      let operation = self.bench.script.operation().retry(limit: 3).measured("post", by: self.bench.meters)
      let runner = OperationRunner(operation: operation, initialContext: self.bench.context)
      let task = Task { try await runner.run() }
      let run = try await self.bench.script.next()
      self.bench.clock.advance(by: .milliseconds(250))
      run.succeed(1)
      try await expect(task.value, equals: 1)
      expect(self.bench.count("runs"), equals: 1)
      expect(self.bench.count("attempts"), equals: 3)
      expect(self.bench.count("retries"), equals: 2)
      expect(self.bench.count("failures"), equals: 0)
      expect(self.bench.durations(), equals: [250_000_000])
    }

    @Test func `A failed run is counted as a failure, and a cancelled one is not`() async throws {
      self.bench.script.enqueue(.error(Refused()), .error(Refused()), .suspend)
      let operation = self.bench.script.operation().retry(limit: 1).measured("post", by: self.bench.meters)
      let runner = OperationRunner(operation: operation, initialContext: self.bench.context)
      await #expect(throws: Refused.self) { try await runner.run() }
      expect(self.bench.count("failures"), equals: 1)

      let task = Task { try await runner.run() }
      _ = try await self.bench.script.next()
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      expect(self.bench.count("failures"), equals: 1)
      expect(self.bench.count("cancellations"), equals: 1)
      expect(self.bench.count("runs"), equals: 2)
      expect(self.bench.count("attempts"), equals: 3)
      expect(self.bench.durations().count, equals: 2)
    }

    @Test func `Inside of a retry each attempt is counted as a run`() async throws {
      self.bench.script.enqueue(.error(Refused()), .value(1))
      let operation = self.bench.script.operation().measured("post", by: self.bench.meters).retry(limit: 1)
      try await expect(OperationRunner(operation: operation, initialContext: self.bench.context).run(), equals: 1)
      expect(self.bench.count("runs"), equals: 2)
      expect(self.bench.count("failures"), equals: 1)
      expect(self.bench.count("retries"), equals: 0)
    }

    @Test(arguments: [true, false])
    func `Callers that join a run are counted as joins, and not as runs`(isStore: Bool) async throws {
      let query = self.bench.script.query().deduplicated().measured("post", by: self.bench.meters)
      let store = OperationStore.detached(query: query, initialContext: self.bench.context)
      let runner = OperationRunner(operation: query, initialContext: self.bench.context)
      let ask: @Sendable () async throws -> Int = { isStore ? try await store.fetch() : try await runner.run() }
      let first = Task { try await ask() }
      let run = try await self.bench.script.next()
      // An immediate task joins before it suspends.
      let joiners = [Task.immediate { try await ask() }, Task.immediate { try await ask() }]
      run.succeed(5)
      for task in [first] + joiners { try await expect(task.value, equals: 5) }
      expect(self.bench.count("joins"), equals: 2)
      // Outside of the deduplication, a runner measures the run of each caller, and a store only its own run.
      expect(self.bench.count("runs"), equals: (isStore ? 1 : 3))
      expect(self.bench.script.runCount, equals: 1)
    }

    @Test func `The name of the operation is its type unless a name is given`() async throws {
      self.bench.script.enqueue(.value(1))
      let query = self.bench.script.query().measured(by: self.bench.meters)
      _ = try await OperationStore.detached(query: query, initialContext: self.bench.context).fetch()
      expect(self.bench.count("runs", of: "ScriptedQuery<Int, Error>"), equals: 1)
    }

    @Test func `Operations with the same name in two types are counted apart`() async throws {
      _ = await OperationRunner(operation: Post.Query().measured(by: self.bench.meters)).run()
      _ = await OperationRunner(operation: User.Query().retry(limit: 1).measured(by: self.bench.meters)).run()
      expect(self.bench.count("runs", of: "Post.Query"), equals: 1)
      expect(self.bench.count("runs", of: "User.Query"), equals: 1)
    }

    @Test func `A cancelled body that throws its own error is counted as cancelled`() async throws {
      let gate = Gate()
      let body = Work<Int, any Error> { _, _ in
        do { try await gate.wait() } catch { throw Refused() }
        return 1
      }
      let operation = body.measured("post", by: self.bench.meters)
      let task = Task { try await OperationRunner(operation: operation).run() }
      try await gate.arrivals(count: 1)
      task.cancel()
      await #expect(throws: Refused.self) { try await task.value }
      expect(self.bench.count("cancellations"), equals: 1)
      expect(self.bench.count("failures"), equals: 0)
    }

    @Test func `The modifier follows the rules of modifiers`() async throws {
      try await checkModifier { $0.measured(by: self.bench.meters) }
    }
  }
#endif
