#if SwiftOperationDevtools
  import OperationCore
  import OperationMemoryPressure
  import OperationNetworkObserving
  import OperationRetry
  import OperationTesting
  import TestFixtures
  import Testing

  @testable import OperationDevtools

  @Suite(.bounded) struct SimulationTests {
    private let simulation = Simulation()
    private let script = OperationScript<Int, any Error>(default: .value(1))
    private let clock = ManualClock()

    @Test func `A run pauses while the network is away, and goes on when it is back`() async throws {
      let client = OperationClient()
      let query = self.script.query(path: ["n"]).networkMode(.online).networkObserver(self.simulation.networkObserver())
      let store = client.store(for: query)
      self.simulation.settings.isOffline = true
      let paused = Task {
        for await state in store.states where state.state.isPaused { return true }
        return false
      }
      let fetch = Task { try await store.fetch() }
      #expect(await paused.value)
      expect(self.script.runCount, equals: 0)
      self.simulation.settings.isOffline = false
      try await expect(fetch.value, equals: 1)
    }

    @Test func `The observer tells what the other one and the simulation tell together`() {
      let base = MockNetworkObserver()
      let observer = self.simulation.networkObserver(base)
      let log = Log<NetworkConnectionStatus>()
      let subscription = observer.subscribe { log.append($0) }
      self.simulation.settings.isOffline = true
      base.send(status: .requiresConnection)
      self.simulation.settings.isOffline = false
      base.send(status: .connected)
      expect(log.all, equals: [.connected, .disconnected, .requiresConnection, .connected])
      subscription.cancel()
      self.simulation.settings.isOffline = true
      expect(log.all.count, equals: 4)
      expect(base.subscriberCount, equals: 0)
    }

    @Test func `A share of the attempts fails, and a retry sees them`() async throws {
      let client = OperationClient(storeCreator: self.simulation.storeCreator(OperationClient.PlainStoreCreator()))
      self.simulation.settings.failures = 0.25
      var failures = 0
      for number in 0..<100 {
        do {
          try await client.store(for: self.script.query(path: [number])).fetch()
        } catch {
          #expect(error is SimulatedFailure)
          failures += 1
        }
      }
      expect(failures, equals: 25)
      expect(self.script.runCount, equals: 75)
    }

    @Test func `An attempt takes longer by the latency`() async throws {
      var context = OperationContext()
      context.operationDeadlines = self.clock
      self.simulation.settings.latency = .seconds(2)
      let creator = self.simulation.storeCreator(OperationClient.PlainStoreCreator())
      // Without a client, whose cache has deadlines of its own.
      let store = creator.store(for: self.script.query(path: ["n"]), in: context, with: QueryState(initialValue: nil))
      let fetch = Task { try await store.fetch() }
      try await self.clock.sleepers(count: 1)
      expect(self.script.runCount, equals: 0)
      self.clock.advance(by: .seconds(2))
      try await expect(fetch.value, equals: 1)
    }

    @Test func `Nothing is delayed or fails until something is simulated`() async throws {
      let client = OperationClient(storeCreator: self.simulation.storeCreator(OperationClient.PlainStoreCreator()))
      for number in 0..<20 { try await client.store(for: self.script.query(path: [number])).fetch() }
      expect(self.script.runCount, equals: 20)
    }

    @Test func `Memory pressure evicts idle stores`() async throws {
      let cache = OperationClient.DefaultStoreCache(memoryPressureSource: self.simulation.memoryPressureSource())
      let client = OperationClient(storeCache: cache)
      for number in 0..<5 { try await client.store(for: self.script.query(path: [number])).fetch() }
      expect(client.stores().count, equals: 5)
      self.simulation.sendMemoryPressure()
      #expect(client.stores().isEmpty)
    }

    @Test(arguments: [(-1.0, 0.0), (2.0, 1.0), (.nan, 0.0), (0.5, 0.5)])
    func `A share outside of its range counts as the nearer bound`(given: Double, counts: Double) {
      self.simulation.settings.failures = given
      expect(self.simulation.settings.failures, equals: counts)
    }
  }
#endif
