#if SwiftOperationTracing
  import InMemoryTracing
  import OperationCore
  import OperationDedupe
  import OperationRetry
  import OperationTesting
  import OperationTracing
  import TestFixtures
  import Testing
  import Tracing

  /// Creates a span in its body, in another task.
  private struct SpanningQuery: QueryRequest, Hashable {
    func fetch(
      isolation: isolated (any Actor)?,
      in context: OperationContext,
      with continuation: OperationContinuation<Int, any Error>
    ) async throws -> Int {
      await Task { InstrumentationSystem.tracer.withAnySpan("body") { _ in 1 } }.value
    }
  }

  /// Retries all queries and lets them share runs, as the defaults of the umbrella do.
  private struct RetryingStores: OperationClient.StoreCreator {
    func store<Operation: StatefulOperationRequest & Sendable>(
      for operation: Operation,
      in context: OperationContext,
      with initialState: Operation.State
    ) -> OperationStore<Operation.State> {
      let query = operation.retry(limit: 3).deduplicated()
      return .detached(operation: query, initialState: initialState, initialContext: context)
    }
  }

  @Suite(.bounded, .warningsAreIssues) struct PropagationTests {
    private let tracer = InMemoryTracer()

    /// Expects the span of a body to be a child of the run's span, and that one a child of the caller's, in one trace.
    private func expectChain() throws {
      let spans = Dictionary(uniqueKeysWithValues: self.tracer.finishedSpans.map { ($0.operationName, $0) })
      expect(spans.count, equals: 3)
      let (caller, run) = (try #require(spans["caller"]), try #require(spans["SpanningQuery"]))
      let body = try #require(spans["body"])
      expect(body.parentSpanID, equals: run.spanID)
      expect(run.parentSpanID, equals: caller.spanID)
      expect(caller.parentSpanID, equals: nil)
      expect(Set([caller.traceID, run.traceID, body.traceID]).count, equals: 1)
    }

    @Test func `The runs of a client are in the trace of the caller, whatever modifiers its stores add`() async throws {
      try await withTracer(self.tracer) {
        let client = OperationClient(storeCreator: RetryingStores())
        client.traceOperations()
        let value = try await self.tracer.withSpan("caller") { _ in
          try await client.store(for: SpanningQuery()).fetch()
        }
        expect(value, equals: 1)
      }
      try self.expectChain()
    }

    @Test func `A run that leaves the caller's actor, and can be shared, keeps the trace`() async throws {
      try await withTracer(self.tracer) {
        let query = SpanningQuery().traced().deduplicated().taskConfiguration { $0.priority = .high }
        let store = OperationStore.detached(query: query)
        _ = try await self.tracer.withSpan("caller") { _ in try await Self.fetchOnMain(store) }
      }
      try self.expectChain()
    }

    @Test func `Callers of one run share its span, which is the child of the first`() async throws {
      let script = OperationScript<Int, any Error>()
      let store = OperationStore.detached(query: script.query().deduplicated().traced("run", by: self.tracer))
      try await withTracer(self.tracer) {
        let first = Task.immediate {
          try await self.tracer.withSpan("first") { _ in try await store.fetch() }
        }
        let run = try await script.next()
        let second = Task.immediate {
          try await self.tracer.withSpan("second") { _ in try await store.fetch() }
        }
        run.succeed(1)
        try await expect(first.value + second.value, equals: 2)
      }
      let spans = Dictionary(grouping: self.tracer.finishedSpans, by: \.operationName)
      expect(spans["run"]?.count, equals: 1)
      expect(spans["second"]?.count, equals: 1)
      expect(spans["run"]?.first?.parentSpanID, equals: spans["first"]?.first?.spanID)
    }

    @MainActor private static func fetchOnMain(_ store: OperationStore<QueryState<Int, any Error>>) async throws -> Int
    {
      try await store.fetch()
    }

    @Test func `An operation with its own tracing has one span in a client that traces`() async throws {
      let client = OperationClient()
      client.traceOperations(by: self.tracer)
      let script = OperationScript<Int, any Error>(default: .value(1))
      _ = try await client.store(for: script.query().traced("post", by: self.tracer).defaultValue(0)).fetch()
      expect(self.tracer.finishedSpans.map(\.operationName), equals: ["post"])
    }
  }
#endif
