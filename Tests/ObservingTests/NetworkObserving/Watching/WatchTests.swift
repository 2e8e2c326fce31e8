#if os(Linux)
  import OperationCore
  import OperationEventLoop
  import OperationTesting
  import TestFixtures
  import Testing

  @testable import OperationNetworkObserving

  @Suite(.bounded, .warningsAreIssues) struct WatchTests {
    private let fixture = WatchFixture()

    @Test func `A subscriber receives the status at once, and the next one after a quiet period`() async throws {
      let subscription = self.fixture.subscribe()
      expect(self.fixture.log.all, equals: [.connected])
      try await self.fixture.change { $0.addresses = [] }
      self.fixture.clock.advance(by: .milliseconds(49))
      expect(self.fixture.clock.remainingTimes(), equals: [.milliseconds(1)])
      self.fixture.clock.advance(by: .milliseconds(1))
      // A worse status is reported only if it lasts.
      expect(self.fixture.clock.remainingTimes(), equals: [.milliseconds(400)])
      self.fixture.clock.advance(by: .milliseconds(400))
      expect(self.fixture.log.all, equals: [.connected, .requiresConnection])
      try await self.fixture.change { $0 = .online }
      self.fixture.clock.advance(by: .milliseconds(50))
      expect(self.fixture.log.all, equals: [.connected, .requiresConnection, .connected])
      expect(self.fixture.clock.sleeperCount(), equals: 0)
      subscription.cancel()
    }

    @Test func `Many changes are read once`() async throws {
      let subscription = self.fixture.subscribe()
      let before = self.fixture.kernel.requestCount
      for _ in 0..<4 {
        try await self.fixture.change { $0.routes.append(NetworkSnapshot.defaultRoute) }
        self.fixture.clock.advance(by: .milliseconds(40))
      }
      expect(self.fixture.kernel.requestCount, equals: before)
      self.fixture.clock.advance(by: .milliseconds(10))
      // Links, addresses, two lookups and two tables.
      expect(self.fixture.kernel.requestCount, equals: before + 6)
      subscription.cancel()
    }

    @Test func `Changes without a quiet period are read after the maximum delay`() async throws {
      let subscription = self.fixture.subscribe()
      let before = self.fixture.kernel.requestCount
      for _ in 0..<6 {
        try await self.fixture.change { $0.routes.append(NetworkSnapshot.defaultRoute) }
        self.fixture.clock.advance(by: .milliseconds(40))
      }
      expect(self.fixture.kernel.requestCount, equals: before)
      expect(self.fixture.clock.remainingTimes(), equals: [.milliseconds(10)])
      self.fixture.clock.advance(by: .milliseconds(10))
      expect(self.fixture.kernel.requestCount, equals: before + 6)
      subscription.cancel()
    }

    @Test func `The reading counts, not the message`() async throws {
      let subscription = self.fixture.subscribe()
      self.fixture.kernel.change(silently: true) { $0.routes = [] }
      expect(self.fixture.clock.sleeperCount(), equals: 0)
      try await self.fixture.change { $0.links.append(NetworkLink(index: 3, name: "v0", hardwareType: 1, flags: 0)) }
      self.fixture.clock.advance(by: .milliseconds(450))
      expect(self.fixture.log.all, equals: [.connected, .requiresConnection])
      subscription.cancel()
    }

    @Test func `A short loss is not reported`() async throws {
      let subscription = self.fixture.subscribe()
      try await self.fixture.change { $0 = .alone }
      self.fixture.clock.advance(by: .milliseconds(350))
      try await self.fixture.change { $0 = .online }
      self.fixture.clock.advance(by: .milliseconds(50))
      expect(self.fixture.clock.sleeperCount(), equals: 0)
      self.fixture.clock.advance(by: .seconds(10))
      expect(self.fixture.log.all, equals: [.connected])
      subscription.cancel()
    }

    @Test func `A loss that gets worse is reported once`() async throws {
      let subscription = self.fixture.subscribe()
      try await self.fixture.change { $0.addresses = [] }
      self.fixture.clock.advance(by: .milliseconds(50))
      try await self.fixture.change { $0 = .alone }
      self.fixture.clock.advance(by: .milliseconds(400))
      expect(self.fixture.log.all, equals: [.connected, .disconnected])
      subscription.cancel()
    }

    @Test func `A network that changes while it is read is read again`() async throws {
      let subscription = self.fixture.subscribe()
      self.fixture.kernel.tamper { _, sequence, datagrams in
        guard datagrams.count > 1 else { return datagrams }
        let end = MessageWriter.end(sequence: sequence, flags: 2 | Netlink.Flags.dumpInterrupted)
        return datagrams.dropLast() + [NetlinkDatagram(bytes: end, length: end.count, sender: 0)]
      }
      try await self.fixture.change { _ in }
      self.fixture.clock.advance(by: .milliseconds(50))
      expect(self.fixture.clock.remainingTimes(), equals: [.milliseconds(50)])
      self.fixture.kernel.tamper(nil)
      self.fixture.clock.advance(by: .milliseconds(50))
      expect(self.fixture.clock.sleeperCount(), equals: 0)
      expect(self.fixture.log.all, equals: [.connected])
      subscription.cancel()
    }

    @Test func `A status is the current one before the subscribers have received it`() async throws {
      let deliveries = Log<@Sendable () -> Void>()
      let fixture = WatchFixture(deliver: { deliveries.append($0) })
      let first = fixture.subscribe()
      try await fixture.change { $0 = .plugged }
      fixture.clock.advance(by: .milliseconds(450))
      expect(fixture.observer.currentStatus, equals: .requiresConnection)
      let late = Receiver<NetworkConnectionStatus>()
      let second = fixture.observer.subscribe { late.receive($0) }
      expect(late.all, equals: [.requiresConnection])
      expect(fixture.log.all, equals: [.connected])
      for deliver in deliveries.all { deliver() }
      expect(fixture.log.all, equals: [.connected, .requiresConnection])
      expect(late.all, equals: [.requiresConnection])
      first.cancel()
      second.cancel()
    }

    @Test func `Nothing is reported or read after the last subscription is cancelled`() async throws {
      let subscription = self.fixture.subscribe()
      try await self.fixture.change { $0 = .alone }
      self.fixture.clock.advance(by: .milliseconds(50))
      subscription.cancel()
      expect(self.fixture.clock.sleeperCount(), equals: 0)
      self.fixture.kernel.notify()
      #expect(!self.fixture.loop.isRunning)
      expect(self.fixture.log.all, equals: [.connected])
    }
  }
#endif
