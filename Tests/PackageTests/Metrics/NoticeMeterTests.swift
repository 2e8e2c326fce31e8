#if SwiftOperationMetrics
  import MetricsTestKit
  import OperationCore
  import OperationFreshness
  import OperationMetrics
  import OperationRetry
  import OperationTesting
  import TestFixtures
  import Testing

  private let name = "ScriptedQuery<Int, Error>"

  @Suite(.bounded, .warningsAreIssues) struct NoticeMeterTests {
    private let bench = Bench()
    private let script = OperationScript<Int, any Error>(default: .value(1))

    /// The number of times that a notice was counted for an operation.
    private func count(_ notice: String, of operation: String) -> Int64 {
      self.bench.backend.counterTotal(
        label: "operation.notices",
        dimensions: [("operation", operation), ("notice", notice)]
      )
    }

    private var total: Int64 { self.bench.backend.counterTotal(label: "operation.notices") }

    @Test func `A notice is counted by its name and the name of the measurement`() async throws {
      let query = self.script.query(path: ["posts", 1]).announcing(attributes: ["quota.user": .string("Blob")])
        .measured("post", by: self.bench.meters)
      let store = OperationStore.detached(query: query)
      _ = try await store.fetch()
      _ = try await store.fetch()
      _ = try await OperationRunner(operation: query).run()
      expect(self.count("quota.exceeded", of: "post"), equals: 3)
      expect(self.total, equals: 3)
      let dimensions = self.bench.backend.counters(label: "operation.notices").flatMap { $0.dimensions.map(\.0) }
      expect(dimensions, equals: ["operation", "notice"])
    }

    @Test func `Of several measurements, the innermost one around the modifier counts a notice`() async throws {
      self.script.enqueue(.error(Refused()), .value(1))
      let query = self.script.query().announcing()
        .measured("attempt", by: self.bench.meters)
        .retry(limit: 1)
        .announcing(OperationNotice.Name("quota.checked"))
        .measured("post", by: self.bench.meters)
      let client = OperationClient(defaultContext: self.bench.context)
      client.measureOperations(by: self.bench.meters)
      _ = try await client.store(for: query).fetch()
      expect(self.count("quota.exceeded", of: "attempt"), equals: 2)
      expect(self.count("quota.checked", of: "post"), equals: 1)
      expect(self.total, equals: 3)
    }

    @Test func `Each backend counts a notice`() async throws {
      let other = TestMetrics()
      let query = self.script.query().announcing()
        .measured("inner", by: OperationMeters(factory: other))
        .measured("outer", by: self.bench.meters)
      _ = try await OperationStore.detached(query: query).fetch()
      expect(self.count("quota.exceeded", of: "outer"), equals: 1)
      expect(other.counterTotal(label: "operation.notices"), equals: 1)
    }

    @Test func `A client counts the notices of its operations and its own`() async throws {
      let client = OperationClient(defaultContext: self.bench.context)
      client.measureOperations(by: self.bench.meters)
      _ = try await client.store(for: self.script.query().announcing()).fetch()
      expect(self.count("quota.exceeded", of: name), equals: 1)

      client.defaultContext.send(OperationNotice(.quotaExceeded))
      client.defaultContext.send(OperationNotice(.quotaExceeded, ofOperationNamed: "Send"))
      expect(self.count("quota.exceeded", of: "none"), equals: 1)
      expect(self.count("quota.exceeded", of: "Send"), equals: 1)
      expect(self.total, equals: 3)
    }

    @Test func `A notice of a store that a body creates with its context is counted once`() async throws {
      let client = OperationClient(defaultContext: self.bench.context)
      client.measureOperations(by: self.bench.meters)
      let inner = client.store(
        for: self.script.query(path: ["inner"]).announcing().measured("b", by: self.bench.meters)
      )
      let outer = self.script.query(path: ["outer"]).measured("a", by: self.bench.meters)
      let run = Task {
        self.script.enqueue(.suspend)
        return try await client.store(for: outer).fetch()
      }
      let body = try await self.script.next()
      _ = try await inner.fetch(using: body.context)
      body.succeed(1)
      _ = try await run.value
      expect(self.count("quota.exceeded", of: "b"), equals: 1)
      expect(self.total, equals: 1)
    }

    @Test func `A stale value that is served, and a read that refreshes early, are counted`() async throws {
      let client = OperationClient(defaultContext: self.bench.context)
      client.measureOperations(by: self.bench.meters)
      let failing = client.store(
        for: self.script.query(path: ["failing"]).servesStale(softTimeout: .seconds(1), maximumAge: .seconds(600))
      )
      let early = client.store(
        for: self.script.query(path: ["early"]).stale(after: .seconds(600)).refreshesEarly(after: 0)
      )
      (failing.currentValue, early.currentValue) = (2, 2)
      self.script.enqueue(.error(Refused()))
      try await expect(failing.fetch(), equals: 2)
      expect(self.count("freshness.stale", of: name), equals: 1)
      try await expect(early.fetch(), equals: 2)
      await early.settled()
      expect(early.currentValue, equals: 1)
      expect(self.count("freshness.early", of: name), equals: 1)
      expect(self.total, equals: 2)
    }

    @Test func `A level is shown by a meter, and not counted`() {
      let client = OperationClient(defaultContext: self.bench.context)
      client.measureOperations(by: self.bench.meters)
      for level in [3, 1, 2] {
        client.defaultContext.send(OperationNotice(OperationNotice.Name("queue.waiting"), level: level))
      }
      let meters = self.bench.backend.meters(label: "operation.level", dimensions: [("level", "queue.waiting")])
      expect(meters.map(\.values), equals: [[3, 1, 2]])
      expect(self.total, equals: 0)
    }

    @Test func `Notices with more than a hundred names are counted together`() {
      let client = OperationClient(defaultContext: self.bench.context)
      client.measureOperations(by: self.bench.meters)
      for number in 0..<10_000 {
        client.defaultContext.send(OperationNotice(OperationNotice.Name("user.\(number)")))
        client.defaultContext.send(OperationNotice(OperationNotice.Name("user.\(number)"), level: number))
      }
      client.defaultContext.send(OperationNotice(OperationNotice.Name("user.7")))
      expect(self.bench.backend.counters(label: "operation.notices").count, equals: 101)
      expect(self.bench.backend.meters(label: "operation.level").count, equals: 101)
      expect(self.count("user.7", of: "none"), equals: 2)
      expect(self.count("other", of: "none"), equals: 9_900)
      expect(self.total, equals: 10_001)
    }

    @Test func `Notices of concurrent runs are all counted`() async throws {
      let query = self.script.query().announcing().measured("post", by: self.bench.meters)
      let runner = OperationRunner(operation: query)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<100 { group.addTask { _ = try await runner.run() } }
        try await group.waitForAll()
      }
      expect(self.count("quota.exceeded", of: "post"), equals: 100)
      expect(self.bench.backend.counters(label: "operation.notices").map(\.totalValue), equals: [100])
    }

    @Test func `Above a number of names, operations are measured together, which is reported once`() async throws {
      let warnings = WarningRecorder()
      try await warnings.recording {
        for number in 0..<1_003 {
          let query = QueryOperation<Int, any Error>("user \(number)") { 1 }.measured(by: self.bench.meters)
          _ = try await OperationStore.detached(query: query).fetch()
        }
      }
      let names = Set(self.bench.backend.counters(label: "operation.runs").flatMap { $0.dimensions.map(\.1) })
      expect(names.count, equals: 1_001)
      expect(self.bench.count("runs", of: "other"), equals: 3)
      expect(self.bench.count("runs", of: "user 999"), equals: 1)
      expect(warnings.warnings.map(\.code), equals: [.tooManyMeasuredNames])
    }
  }
#endif
