#if SwiftOperationMetrics
  import OperationCore
  import OperationDedupe
  import OperationMetrics
  import OperationRetry
  import OperationTesting
  import TestFixtures
  import Testing

  /// An operation of which nothing but the type matters.
  private protocol Trivial: OperationRequest {}

  extension Trivial {
    func run(
      isolation: isolated (any Actor)?,
      in context: OperationContext,
      with continuation: OperationContinuation<Int, Never>
    ) async -> Int { 1 }
  }

  private enum Post {
    struct Query: Trivial {}
  }

  private enum User {
    struct Query: Trivial {}
  }

  /// Waits, and throws an error of its own when it is cancelled.
  private struct Leaving: OperationRequest {
    let gate: Gate

    func run(
      isolation: isolated (any Actor)?,
      in context: OperationContext,
      with continuation: OperationContinuation<Int, any Error>
    ) async throws -> Int {
      do { try await self.gate.wait() } catch { throw Refused() }
      return 1
    }
  }

  @Suite(.warningsAreIssues) struct MeasurementTests {
    private let bench = Bench()

    @Test func `A run is counted with its attempts, retries and duration`() async throws {
      self.bench.script.enqueue(.error(Refused()), .error(Refused()), .suspend)
      let operation = self.bench.script.operation().retry(limit: 3).measured("post", by: self.bench.meters)
      let runner = OperationRunner(operation: operation, initialContext: self.bench.context)
      let task = Task { try await runner.run() }
      let run = try await self.bench.script.next()
      self.bench.clock.advance(by: .milliseconds(250))
      run.succeed(1)
      #expect(try await task.value == 1)
      #expect(self.bench.count("runs") == 1)
      #expect(self.bench.count("attempts") == 3)
      #expect(self.bench.count("retries") == 2)
      #expect(self.bench.count("failures") == 0)
      #expect(self.bench.durations() == [250_000_000])
    }

    @Test func `A failure is one of the run, and a cancellation is none`() async throws {
      self.bench.script.enqueue(.error(Refused()), .error(Refused()), .suspend)
      let operation = self.bench.script.operation().retry(limit: 1).measured("post", by: self.bench.meters)
      let runner = OperationRunner(operation: operation, initialContext: self.bench.context)
      await #expect(throws: Refused.self) { try await runner.run() }
      #expect(self.bench.count("failures") == 1)

      let task = Task { try await runner.run() }
      _ = try await self.bench.script.next()
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(self.bench.count("failures") == 1)
      #expect(self.bench.count("cancellations") == 1)
      #expect(self.bench.count("runs") == 2)
      #expect(self.bench.count("attempts") == 3)
      #expect(self.bench.durations().count == 2)
    }

    @Test func `Inside of a retry each attempt is a run`() async throws {
      self.bench.script.enqueue(.error(Refused()), .value(1))
      let operation = self.bench.script.operation().measured("post", by: self.bench.meters).retry(limit: 1)
      #expect(try await OperationRunner(operation: operation, initialContext: self.bench.context).run() == 1)
      #expect(self.bench.count("runs") == 2)
      #expect(self.bench.count("failures") == 1)
      #expect(self.bench.count("retries") == 0)
    }

    @Test(arguments: [true, false])
    func `Callers that join a run are joins and no runs`(isStore: Bool) async throws {
      let query = self.bench.script.query().deduplicated().measured("post", by: self.bench.meters)
      let store = OperationStore.detached(query: query, initialContext: self.bench.context)
      let runner = OperationRunner(operation: query, initialContext: self.bench.context)
      let ask: @Sendable () async throws -> Int = { isStore ? try await store.fetch() : try await runner.run() }
      let first = Task { try await ask() }
      let run = try await self.bench.script.next()
      // On this task it joins before anything else can happen.
      let joiners = [Task.immediate { try await ask() }, Task.immediate { try await ask() }]
      run.succeed(5)
      for task in [first] + joiners { #expect(try await task.value == 5) }
      #expect(self.bench.count("joins") == 2)
      // Outside of the deduplication a runner has each caller's run in view, a store only the one that it makes.
      #expect(self.bench.count("runs") == (isStore ? 1 : 3))
      #expect(self.bench.script.runCount == 1)
    }

    @Test func `The type of the operation is its name unless one is given`() async throws {
      self.bench.script.enqueue(.value(1))
      let query = self.bench.script.query().measured(by: self.bench.meters)
      _ = try await OperationStore.detached(query: query, initialContext: self.bench.context).fetch()
      #expect(self.bench.count("runs", of: "ScriptedQuery<Int, Error>") == 1)
    }

    @Test func `Operations of one name in two types are two`() async throws {
      _ = await OperationRunner(operation: Post.Query().measured(by: self.bench.meters)).run()
      _ = await OperationRunner(operation: User.Query().retry(limit: 1).measured(by: self.bench.meters)).run()
      #expect(self.bench.count("runs", of: "Post.Query") == 1)
      #expect(self.bench.count("runs", of: "User.Query") == 1)
    }

    @Test func `A body that throws its own error when it is cancelled was cancelled`() async throws {
      let gate = Gate()
      let operation = Leaving(gate: gate).measured("post", by: self.bench.meters)
      let task = Task { try await OperationRunner(operation: operation).run() }
      try await gate.arrivals(count: 1)
      task.cancel()
      await #expect(throws: Refused.self) { try await task.value }
      #expect(self.bench.count("cancellations") == 1)
      #expect(self.bench.count("failures") == 0)
    }

    @Test func `The modifier keeps the rules of modifiers`() async throws {
      try await checkModifier { $0.measured(by: self.bench.meters) }
    }
  }
#endif
