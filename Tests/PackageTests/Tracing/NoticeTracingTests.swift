#if SwiftOperationTracing
  import InMemoryTracing
  import OperationCore
  import OperationRetry
  import OperationTesting
  import OperationTracing
  import TestFixtures
  import Testing
  import Tracing

  @Suite(.bounded, .warningsAreIssues) struct NoticeTracingTests {
    private let tracer = InMemoryTracer()
    private let script = OperationScript<Int, any Error>(default: .value(1))

    /// The names of the notices in the spans, by the names of the spans.
    private var notices: [String: [String]] {
      Dictionary(grouping: self.tracer.finishedSpans, by: \.operationName).mapValues { spans in
        spans.flatMap { $0.events.map(\.name).filter { $0 != "attempt" } }
      }
    }

    @Test func `A notice is an event of the run's span, with its attributes`() async throws {
      let attributes: [String: OperationNotice.Value] = [
        "quota.limit": .integer(10), "quota.wait": .duration(.milliseconds(1500)), "quota.share": .number(0.5),
        "quota.name": .string("free"), "quota.is_hard": .flag(true),
      ]
      let query = self.script.query(path: ["a secret"]).announcing(attributes: attributes)
        .traced("post", by: self.tracer)
      _ = try await OperationStore.detached(query: query).fetch()
      let span = try #require(self.tracer.finishedSpans.first)
      let event = try #require(span.events.last)
      expect(span.events.map(\.name), equals: ["attempt", "quota.exceeded"])
      let expected: SpanAttributes = [
        "operation.name": "ScriptedQuery<Int, Error>", "quota.limit": .int64(10), "quota.wait": 1.5, "quota.share": 0.5,
        "quota.name": "free", "quota.is_hard": true,
      ]
      expect(event.attributes, equals: expected)
      #expect(!"\(span)".contains("secret"))
    }

    @Test func `Of several spans, the innermost one around the modifier has the event`() async throws {
      self.script.enqueue(.error(RefusedCall()), .value(1))
      let query = self.script.query().announcing()
        .traced("attempt", by: self.tracer)
        .retry(limit: 1)
        .announcing(OperationNotice.Name("quota.checked"))
        .traced("post", by: self.tracer)
      _ = try await OperationStore.detached(query: query, initialContext: .withoutDelays).fetch()
      expect(self.notices, equals: ["attempt": ["quota.exceeded", "quota.exceeded"], "post": ["quota.checked"]])
    }

    @Test func `A client's span has the notices of its operation`() async throws {
      let client = OperationClient()
      client.traceOperations(by: self.tracer)
      _ = try await client.store(for: self.script.query().announcing()).fetch()
      expect(self.notices, equals: ["ScriptedQuery<Int, Error>": ["quota.exceeded"]])
    }

    @Test func `A notice with the context of a body is an event of that body's span`() async throws {
      self.script.enqueue(.suspend)
      let store = OperationStore.detached(query: self.script.query().traced("outer", by: self.tracer))
      let fetch = Task { try await store.fetch() }
      let body = try await self.script.next()
      _ = try await OperationStore.detached(query: self.script.query().announcing()).fetch(using: body.context)
      let traced = self.script.query().announcing().traced("inner", by: self.tracer)
      _ = try await OperationStore.detached(query: traced).fetch(using: body.context)
      body.succeed(1)
      _ = try await fetch.value
      expect(self.notices, equals: ["inner": ["quota.exceeded"], "outer": ["quota.exceeded"]])
    }

    @Test func `Levels, and notices after the end, are not events`() async throws {
      self.script.enqueue(.suspend)
      let store = OperationStore.detached(query: self.script.query().traced("post", by: self.tracer))
      let fetch = Task { try await store.fetch() }
      let body = try await self.script.next()
      body.context.send(OperationNotice(.quotaExceeded, level: 2))
      body.succeed(1)
      _ = try await fetch.value
      body.context.send(OperationNotice(.quotaExceeded))
      expect(self.notices, equals: ["post": []])
    }

    @Test func `A span that does not record gets no notices`() async throws {
      let query = self.script.query().announcing().traced("inner", by: NoOpTracer()).traced("outer", by: self.tracer)
      _ = try await OperationStore.detached(query: query).fetch()
      expect(self.notices, equals: ["outer": ["quota.exceeded"]])
    }
  }
#endif
