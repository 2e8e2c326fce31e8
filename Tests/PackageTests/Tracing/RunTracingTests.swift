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

  struct RefusedCall: Error, CustomStringConvertible {
    var description: String { "password" }
  }

  @Suite(.bounded, .warningsAreIssues) struct RunTracingTests {
    private let tracer = InMemoryTracer()
    private let script = OperationScript<Int, any Error>()

    @Test func `A run has a span, and its attempts are events of the span`() async throws {
      self.script.enqueue(.error(RefusedCall()), .error(RefusedCall()), .value(1))
      let operation = self.script.operation().retry(limit: 3).traced("post", by: self.tracer)
      try await expect(OperationRunner(operation: operation, initialContext: .withoutDelays).run(), equals: 1)

      let span = try #require(self.tracer.finishedSpans.first)
      expect(self.tracer.finishedSpans.count, equals: 1)
      #expect(self.tracer.activeSpans.isEmpty)
      expect(span.operationName, equals: "post")
      expect(span.attributes.get("operation.outcome"), equals: .string("success"))
      #expect(span.attributes.get("operation.task") != nil)
      expect(span.status, equals: nil)
      expect(span.events.map(\.name), equals: ["attempt", "attempt", "attempt"])
      expect(span.events.map { $0.attributes.get("operation.attempt") }, equals: [.int64(1), .int64(2), .int64(3)])
      expect(span.events.map { $0.attributes.get("error.type") != nil }, equals: [false, true, true])
    }

    @Test func `A failure is an error of the span, with its type`() async throws {
      self.script.enqueue(.error(RefusedCall()))
      let query = self.script.query(path: ["secret"]).traced(by: self.tracer)
      await #expect(throws: RefusedCall.self) { try await OperationStore.detached(query: query).fetch() }

      let span = try #require(self.tracer.finishedSpans.first)
      expect(span.operationName, equals: "ScriptedQuery<Int, Error>")
      expect(span.status?.code, equals: .error)
      expect(span.attributes.get("operation.outcome"), equals: .string("failure"))
      #expect("\(span.attributes.get("error.type"), default: "none")".contains("RefusedCall"))
      #expect(span.errors.isEmpty)
      #expect(!"\(span)".contains("password"))
      #expect(!"\(span)".contains("secret"))
    }

    @Test func `A cancellation is not an error of the span`() async throws {
      let runner = OperationRunner(operation: self.script.operation().traced(by: self.tracer))
      let task = Task { try await runner.run() }
      _ = try await self.script.next()
      expect(self.tracer.activeSpans.count, equals: 1)
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      let span = try #require(self.tracer.finishedSpans.first)
      expect(span.status, equals: nil)
      expect(span.attributes.get("operation.outcome"), equals: .string("cancellation"))
    }

    @Test func `A cancelled body that throws its own error is traced as cancelled`() async throws {
      let gate = Gate()
      let body = Work<Int, any Error> { _, _ in
        do { try await gate.wait() } catch { throw RefusedCall() }
        return 1
      }
      let operation = body.traced("post", by: self.tracer)
      let task = Task { try await OperationRunner(operation: operation).run() }
      try await gate.arrivals(count: 1)
      task.cancel()
      await #expect(throws: RefusedCall.self) { try await task.value }
      let span = try #require(self.tracer.finishedSpans.first)
      expect(span.status, equals: nil)
      expect(span.attributes.get("operation.outcome"), equals: .string("cancellation"))
    }

    @Test func `Inside of a retry each attempt has a span`() async throws {
      self.script.enqueue(.error(RefusedCall()), .value(1))
      let operation = self.script.operation().traced(by: self.tracer).retry(limit: 1)
      try await expect(OperationRunner(operation: operation, initialContext: .withoutDelays).run(), equals: 1)
      expect(
        self.tracer.finishedSpans.map { $0.events.map { $0.attributes.get("operation.attempt") } },
        equals: [[.int64(1)], [.int64(2)]]
      )
    }

    @Test func `The modifier follows the rules of modifiers`() async throws {
      try await checkModifier { $0.traced(by: self.tracer) }
    }
  }
#endif
