#if SwiftOperationLogging && SwiftOperationMetrics && SwiftOperationTracing
  import InMemoryLogging
  import InMemoryTracing
  import Logging
  import MetricsTestKit
  import Operation
  import OperationPersistence
  import OperationTesting
  import TestFixtures
  import Testing
  import Tracing

  private typealias Script = OperationScript<Int, any Error>

  private struct Send: MutationRequest {
    let script: Script
    let path: OperationPath = ["send"]

    func mutate(
      isolation: isolated (any Actor)?,
      with arguments: Int,
      in context: OperationContext,
      with continuation: OperationContinuation<Int, any Error>
    ) async throws -> Int {
      try await self.script.run(in: context, with: continuation)
    }
  }

  /// A client that is measured, logged and traced, with the records of the three.
  private struct ObservedClient {
    let clock = ManualClock()
    let backend = TestMetrics()
    let handler = InMemoryLogHandler()
    let tracer = InMemoryTracer()
    let client: OperationClient

    init() {
      let handler = self.handler
      var context = OperationContext()
      context.use(self.clock)
      context.operationBackoffFunction = .noBackoff
      context.operationLogger = Logger(label: "test") { _ in handler }
      self.client = OperationClient(defaultContext: context, storeCreator: OperationClient.PlainStoreCreator())
      self.client.measureOperations(by: OperationMeters(factory: self.backend))
      self.client.logNotices()
      self.client.traceOperations(by: self.tracer)
    }

    func store<Query: QueryRequest>(_ query: Query) -> OperationStore<Query.State> {
      self.client.store(for: query)
    }

    /// Expects these notices, in this order, from all three, and the metrics to count them for one operation.
    func expectNotices(_ names: [String], sourceLocation: SourceLocation = #_sourceLocation) {
      expect(self.handler.entries.map(\.message.description), equals: names, sourceLocation: sourceLocation)
      let counters = self.backend.counters(label: "operation.notices")
      let counts = counters.map { ($0.dimensions.first { $0.0 == "notice" }?.1, Int($0.totalValue)) }
      let expected = Dictionary(grouping: names, by: \.self).mapValues(\.count)
      expect(
        counts.reduce(into: [:]) { $0[$1.0, default: 0] += $1.1 },
        equals: expected,
        sourceLocation: sourceLocation
      )
      expect(Set(counters.map { $0.dimensions.first?.1 }).count, equals: 1, sourceLocation: sourceLocation)
      let events = self.tracer.finishedSpans.flatMap { $0.events.map(\.name) }.filter { $0 != "attempt" }
      expect(events.sorted(), equals: names.sorted(), sourceLocation: sourceLocation)
      #expect(self.tracer.activeSpans.isEmpty, sourceLocation: sourceLocation)
    }
  }

  /// Metrics, logs and traces receive the notices of the resilience modifiers, on which they do not depend.
  @Suite(.bounded, .warningsAreIssues) struct NoticeTests {
    private let observed = ObservedClient()
    private let script = Script()

    @Test func `A breaker that opens and rejects sends notices, and so do the fallbacks`() async throws {
      self.script.enqueue(.error(Refused()), .error(Refused()))
      let breaker = CircuitBreaker(name: "posts", minimumRuns: 2, openFor: .constant(.seconds(60)))
      let store = self.observed.store(self.script.query().circuitBreaker(breaker).fallback(0))
      for _ in 1...3 { try await expect(store.fetch(), equals: 0) }
      self.observed.expectNotices(["fallback", "circuit.opened", "fallback", "circuit.rejected", "fallback"])
      let rejection = try #require(self.observed.handler.entries.first { $0.message == "circuit.rejected" })
      expect(rejection.metadata["circuit.name"], equals: "posts")
      expect(rejection.metadata["circuit.retry_after"], equals: "60.0")
      let event = try #require(self.observed.tracer.finishedSpans.last?.events.first { $0.name == "circuit.rejected" })
      expect(event.attributes.get("circuit.retry_after"), equals: .double(60))
    }

    @Test func `A timeout sends a notice`() async throws {
      let store = self.observed.store(self.script.query().timeout(.seconds(2)))
      let fetch = Task.immediate { try await store.fetch() }
      _ = try await self.script.next()
      try await self.observed.clock.sleepers(count: 1, .deadline)
      self.observed.clock.advance(by: .seconds(2))
      await #expect(throws: OperationTimedOut.self) { try await fetch.value }
      self.observed.expectNotices(["timeout"])
    }

    @Test func `A retry that its budget does not allow sends a notice`() async throws {
      self.script.enqueue(.error(Refused()))
      let budget = RetryBudget(ratio: 0, minimumPerSecond: 0)
      let store = self.observed.store(self.script.query().retry(limit: 1).backoff(.noBackoff).retryBudget(budget))
      await #expect(throws: Refused.self) { try await store.fetch() }
      self.observed.expectNotices(["retry.over_budget"])
    }

    @Test func `A limit that rejects a run sends a notice`() async throws {
      let limit = ConcurrencyLimit(1, queue: 0)
      let first = self.observed.store(self.script.query(path: [1]).limited(by: limit))
      let second = self.observed.store(self.script.query(path: [2]).limited(by: limit))
      let fetch = Task.immediate { try await first.fetch() }
      let run = try await self.script.next()
      await #expect(throws: OperationRejected.self) { try await second.fetch() }
      run.succeed(1)
      try await expect(fetch.value, equals: 1)
      self.observed.expectNotices(["limit.rejected"])
    }

    @Test func `A hedge sends a notice`() async throws {
      let store = self.observed.store(self.script.query().hedged(after: .seconds(1)))
      let fetch = Task.immediate { try await store.fetch() }
      _ = try await self.script.next()
      try await self.observed.clock.sleepers(count: 1, .deadline)
      self.observed.clock.advance(by: .seconds(1))
      let second = try await self.script.next()
      second.succeed(2)
      try await expect(fetch.value, equals: 2)
      self.observed.expectNotices(["hedge.started"])
    }

    @Test func `A batch sends a notice with its size`() async throws {
      let batcher = OperationBatcher<Int, Int>(window: .seconds(1)) { keys, _ in
        Dictionary(uniqueKeysWithValues: keys.map { ($0, .success($0 * 10)) })
      }
      let stores = (1...3).map { self.observed.store(batcher.query(for: $0)) }
      let fetches = stores.map { store in Task.immediate { try await store.fetch() } }
      self.observed.clock.advance(by: .seconds(1))
      for (index, fetch) in fetches.enumerated() { try await expect(fetch.value, equals: (index + 1) * 10) }
      self.observed.expectNotices(["batch.sent"])
      expect(self.observed.handler.entries.first?.metadata["batch.size"], equals: "3")
    }

    @Test func `A journal sends notices with the number of its calls`() async throws {
      let client = self.observed.client
      client.journal = MutationJournal(storage: InMemoryStorage())
      let store = client.store(for: Send(script: self.script).journaled(as: "send"))
      let call = Task.immediate { try await store.mutate(with: 7) }
      let run = try await self.script.next()
      run.succeed(1)
      try await expect(call.value, equals: 1)
      expect(self.observed.handler.entries.map(\.message), equals: ["journal.accepted", "journal.sent"])
      expect(self.observed.handler.entries.map { $0.metadata["journal.name"] }, equals: ["send", "send"])
      for notice in ["journal.accepted", "journal.sent"] {
        let dimensions = [("operation", "Send"), ("notice", notice)]
        let total = self.observed.backend.counterTotal(label: "operation.notices", dimensions: dimensions)
        expect(total, equals: 1)
      }
      let meters = self.observed.backend.meters(label: "operation.level", dimensions: [("level", "journal.pending")])
      expect(meters.map(\.values), equals: [[0, 1, 0]])
      // The entry is removed after the end of the run.
      expect(
        self.observed.tracer.finishedSpans.map { $0.events.map(\.name) },
        equals: [["attempt", "journal.accepted"]]
      )
    }

    @Test func `All modifiers around one operation send their notices`() async throws {
      self.script.enqueue(.error(Refused()), .suspend, .error(Refused()))
      let breaker = CircuitBreaker(minimumRuns: 3, openFor: .constant(.seconds(60)))
      let query = self.script.query()
        .timeout(.seconds(2))
        .circuitBreaker(breaker)
        .limited(by: ConcurrencyLimit(1))
        .retry(limit: 3)
        .fallback(0)
        .deduplicated()
      let store = self.observed.store(query)
      let fetches = (1...3).map { _ in Task.immediate { try await store.fetch() } }
      _ = try await self.script.next()
      try await self.observed.clock.sleepers(count: 1, .deadline)
      self.observed.clock.advance(by: .seconds(2))
      for fetch in fetches { try await expect(fetch.value, equals: 0) }
      expect(self.script.runCount, equals: 3)
      self.observed.expectNotices(["timeout", "circuit.opened", "circuit.rejected", "fallback"])
      expect(self.observed.tracer.finishedSpans.count, equals: 1)
      let attempts = self.observed.handler.entries.map { $0.metadata["operation.attempt"] }
      // The fallback is outside of the retry.
      expect(attempts, equals: ["2", "3", "4", "1"])
    }
  }
#endif
