#if SwiftOperationMetrics
  import OperationCore
  import OperationDedupe
  import OperationMetrics
  import OperationRetry
  import OperationTesting
  import TestFixtures
  import Testing

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

  private let name = "ScriptedQuery<Int, Error>"

  @Suite(.bounded, .warningsAreIssues) struct StoreMeterTests {
    private let bench = Bench()

    @Test func `A client measures outside of the modifiers that its stores add`() async throws {
      let client = OperationClient(defaultContext: self.bench.context, storeCreator: RetryingStores())
      client.measureOperations(by: self.bench.meters)
      self.bench.script.enqueue(.error(Refused()), .suspend)
      let store = client.store(for: self.bench.script.query())
      let fetch = Task { try await store.fetch() }
      let run = try await self.bench.script.next()
      let joiner = Task.immediate { try await client.ensureValue(for: self.bench.script.query()) }
      run.succeed(2)
      try await expect(fetch.value, equals: 2)
      try await expect(joiner.value, equals: 2)
      expect(self.bench.count("runs", of: name), equals: 1)
      expect(self.bench.count("attempts", of: name), equals: 2)
      expect(self.bench.count("retries", of: name), equals: 1)
      expect(self.bench.count("joins", of: name), equals: 1)
    }

    @Test func `An operation with a measurement of its own is measured once`() async throws {
      let client = OperationClient(defaultContext: self.bench.context)
      client.measureOperations(by: self.bench.meters)
      self.bench.script.enqueue(.value(1))
      let query = self.bench.script.query().measured("post", by: self.bench.meters).stale(after: .seconds(1))
      _ = try await client.store(for: query.defaultValue(0)).fetch()
      expect(self.bench.count("runs"), equals: 1)
      expect(self.bench.count("runs", of: name), equals: 0)
    }

    @Test func `Meters follow the numbers of stores and subscribers`() async throws {
      let query = self.bench.script.query().disableAutomaticRunning().measured("post", by: self.bench.meters)
      var store: OperationStore? = .detached(query: query, initialContext: self.bench.context)
      expect(self.bench.level("stores"), equals: 1)
      expect(self.bench.level("subscribers"), equals: nil)
      let first = store?.subscribe(with: QueryEventHandler())
      let second = store?.subscribe(with: QueryEventHandler())
      expect(self.bench.level("subscribers"), equals: 2)
      first?.cancel()
      first?.cancel()
      expect(self.bench.level("subscribers"), equals: 1)
      store = nil
      expect(self.bench.level("stores"), equals: 0)
      expect(self.bench.level("subscribers"), equals: 0)
      second?.cancel()
      expect(self.bench.level("subscribers"), equals: 0)
    }

    @Test func `A store that a body creates with its context is not measured by default`() async throws {
      var context = self.bench.context
      context.measureOperations(by: self.bench.meters)
      self.bench.script.enqueue(.value(1))
      let store = OperationStore.detached(query: self.bench.script.query(), initialContext: context)
      try await expect(store.fetch(), equals: 1)
      self.bench.script.enqueue(.value(2))
      _ = try await OperationStore.detached(query: self.bench.script.query(), initialContext: store.context).fetch()
      expect(self.bench.count("runs", of: name), equals: 1)
    }

    @Test func `A store that a body creates with its context is measured apart`() async throws {
      let (inner, clock) = (OperationScript<Int, any Error>(), self.bench.clock)
      let query = self.bench.script.query().measured("post", by: self.bench.meters)
      let store = OperationStore.detached(query: query, initialContext: self.bench.context)
      let made = OperationStore.detached(query: inner.query().deduplicated(), initialContext: store.context)
      expect(self.bench.level("stores"), equals: 1)
      let subscription = made.subscribe(with: QueryEventHandler())
      expect(self.bench.level("subscribers"), equals: nil)
      subscription.cancel()

      let first = Task.immediate { try await made.fetch(using: store.context) }
      let run = try await inner.next()
      let second = Task.immediate { try await made.fetch(using: store.context) }
      run.succeed(1)
      try await expect(first.value + second.value, equals: 2)
      expect(self.bench.count("joins"), equals: 0)
      expect(clock.sleeperCount(), equals: 0)
    }
  }
#endif
