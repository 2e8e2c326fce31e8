#if os(Linux)
  import OperationCore
  import OperationEventLoop
  import OperationTesting
  import Synchronization
  import TestFixtures
  import Testing

  @testable import OperationNetworkObserving

  @Suite(.bounded, .warningsAreIssues) struct ObserverLifetimeTests {
    private let fixture = WatchFixture()
    private var kernel: FakeKernel { self.fixture.kernel }

    private func expectNothingLeft() {
      expect(self.kernel.openFeedCount, equals: 0)
      expect(self.kernel.openChannelCount, equals: 0)
      #expect(!self.fixture.loop.isRunning)
      expect(self.fixture.clock.sleeperCount(), equals: 0)
      expect(self.fixture.observer.subscriberCount, equals: 0)
    }

    @Test func `No resources are used before the first subscriber or after the last`() async throws {
      self.expectNothingLeft()
      let first = self.fixture.subscribe()
      let second = self.fixture.subscribe()
      expect(self.kernel.openFeedCount, equals: 1)
      expect(self.kernel.openChannelCount, equals: 1)
      #expect(self.fixture.loop.isRunning)
      first.cancel()
      first.cancel()
      expect(self.kernel.openFeedCount, equals: 1)
      second.cancel()
      self.expectNothingLeft()
      let third = self.fixture.subscribe()
      expect(self.kernel.openFeedCount, equals: 1)
      third.cancel()
      self.expectNothingLeft()
    }

    @Test func `One reading serves all subscribers, in their order`() async throws {
      let order = Log<Int>()
      let subscriptions = (0..<100).map { number in self.fixture.observer.subscribe { _ in order.append(number) } }
      expect(self.kernel.channelCount, equals: 1)
      expect(self.kernel.requestCount, equals: 6)
      try await self.fixture.change { $0 = .alone }
      self.fixture.clock.advance(by: .milliseconds(450))
      expect(order.all, equals: Array(0..<100) + Array(0..<100))
      for subscription in subscriptions { subscription.cancel() }
      self.expectNothingLeft()
    }

    @Test func `A subscription that is dropped is cancelled, and its handler is released`() {
      let lifetimes = LifetimeTracker()
      _ = self.fixture.observer.subscribe { [token = lifetimes.token()] _ in token.touch() }
      expect(lifetimes.aliveCount, equals: 0)
      self.expectNothingLeft()
    }

    @Test func `A handler may cancel the last subscription, and subscribe`() async throws {
      let (box, later) = (Box<OperationSubscription?>(nil), Box<OperationSubscription?>(nil))
      let (observer, log) = (self.fixture.observer, self.fixture.log)
      box.value = observer.subscribe { status in
        guard status == .requiresConnection else { return }
        box.value?.cancel()
        later.value = observer.subscribe { log.receive($0) }
      }
      try await self.fixture.change { $0 = .plugged }
      self.fixture.clock.advance(by: .milliseconds(450))
      expect(log.all, equals: [.requiresConnection])
      expect(observer.subscriberCount, equals: 1)
      later.value?.cancel()
      self.expectNothingLeft()
    }

    @Test func `Without subscribers the status is read from memory, without a thread`() async throws {
      for _ in 0..<100 { expect(self.fixture.observer.currentStatus, equals: .connected) }
      expect(self.kernel.channelCount, equals: 1)
      expect(self.kernel.requestCount, equals: 6)
      expect(self.kernel.openFeedCount, equals: 1)
      #expect(!self.fixture.loop.isRunning)
      self.kernel.change { $0 = .plugged }
      expect(self.fixture.observer.currentStatus, equals: .requiresConnection)
      expect(self.fixture.observer.currentStatus, equals: .requiresConnection)
      expect(self.kernel.requestCount, equals: 12)
      expect(self.kernel.channelCount, equals: 1)
      // A subscription replaces the cache.
      let subscription = self.fixture.subscribe()
      expect(self.kernel.openFeedCount, equals: 1)
      expect(self.kernel.openChannelCount, equals: 1)
      expect(self.fixture.observer.currentStatus, equals: .requiresConnection)
      expect(self.kernel.requestCount, equals: 18)
      subscription.cancel()
      self.expectNothingLeft()
    }

    @Test func `Without notifications a reading is used for 5 seconds`() async throws {
      self.kernel.refuse(feed: 1)
      expect(self.fixture.observer.currentStatus, equals: .connected)
      self.kernel.change { $0 = .plugged }
      self.fixture.clock.advance(by: .milliseconds(4_999))
      expect(self.fixture.observer.currentStatus, equals: .connected)
      self.fixture.clock.advance(by: .milliseconds(1))
      expect(self.fixture.observer.currentStatus, equals: .requiresConnection)
    }

    @Test func `A failed reading without subscribers opens new sockets`() async throws {
      expect(self.fixture.observer.currentStatus, equals: .connected)
      self.kernel.tamper { attempt, _, datagrams in attempt == 7 ? [] : datagrams }
      self.kernel.change { $0 = .plugged }
      expect(self.fixture.observer.currentStatus, equals: .requiresConnection)
      expect(self.kernel.openChannelCount, equals: 1)
      expect(self.kernel.openFeedCount, equals: 1)
    }

    @Test func `Descriptors that a reading without subscribers leaves open are closed with the observer`() {
      let kernel = FakeKernel(.online)
      do {
        var settings = WatchSettings()
        settings.system = kernel.system
        let observer = NetlinkNetworkObserver(requirement: .defaultRoute, excluding: nil, settings: settings)
        expect(observer.currentStatus, equals: .connected)
        expect(kernel.openFeedCount, equals: 1)
      }
      expect(kernel.openFeedCount, equals: 0)
      expect(kernel.openChannelCount, equals: 0)
    }

    @Test func `A condition reads the status without subscribing, also from an erased observer`() async throws {
      let specification = NetworkConnectionRunSpecification.connected(
        to: AnySendableNetworkObserver(self.fixture.observer)
      )
      for _ in 0..<100 { #expect(specification.isSatisfied(in: OperationContext())) }
      expect(self.kernel.channelCount, equals: 1)
      let changes = Log<Void>()
      let subscription = specification.subscribe(in: OperationContext()) { changes.append(()) }
      expect(changes.count, equals: 0)
      try await self.fixture.change { $0 = .plugged }
      self.fixture.clock.advance(by: .milliseconds(450))
      expect(changes.count, equals: 1)
      #expect(!specification.isSatisfied(in: OperationContext()))
      subscription.cancel()
      self.expectNothingLeft()
    }

    @Test func `A store reruns its query when the network is back`() async throws {
      let script = OperationScript<Int, any Error>(default: .value(1))
      let query = ScriptedQuery(script).rerunOnChange(of: .connected(to: self.fixture.observer))
      let store = OperationStore.detached(query: query)
      let subscription = store.subscribe(with: OperationEventHandler())
      try await self.fixture.change { $0 = .alone }
      self.fixture.clock.advance(by: .milliseconds(450))
      expect(script.runCount, equals: 0)
      try await self.fixture.change { $0 = .online }
      self.fixture.clock.advance(by: .milliseconds(50))
      try await script.runs(count: 1)
      subscription.cancel()
    }

    @Test func `Subscriptions from many threads leave nothing`() async throws {
      let (observer, kernel) = (self.fixture.observer, self.kernel)
      try await withTimeLimit("the subscribers") {
        await withTaskGroup(of: Void.self) { group in
          for number in 0..<4 {
            group.addTask {
              for turn in 0..<100 {
                let received = Mutex(0)
                let subscription = observer.subscribe { _ in received.withLock { $0 += 1 } }
                #expect(received.withLock { $0 } >= 1)
                if (number + turn) % 3 == 0 { kernel.notify() }
                if (number + turn) % 5 == 0 { _ = observer.currentStatus }
                subscription.cancel()
              }
            }
          }
        }
      }
      // A status may have been read while there was no subscriber, so the cache may be open.
      self.fixture.subscribe().cancel()
      self.expectNothingLeft()
    }

    @Test func `The shared observer is the same as long as it is referenced`() {
      let observer = NetlinkNetworkObserver.startingShared()
      #expect(observer === NetlinkNetworkObserver.startingShared())
    }
  }
#endif
