#if os(Linux)
  import Glibc
  import OperationCore
  import OperationEventLoop
  import OperationTesting
  import TestFixtures
  import Testing

  @testable import OperationNetworkObserving

  /// The observer in real networks, each in a namespace of its own.
  @Suite(
    .boundedBeforeOthers,
    .serialized,
    .enabled(if: NetworkNamespace.isAllowed, "\(NetworkNamespace.obstacle ?? "")"),
    .warningsAreIssues
  )
  struct NamespaceTests {
    @Test func `From no link to a default route and back`() async throws {
      let namespace = try NetworkNamespace.make()
      defer { namespace.end() }
      expect(namespace.status(), equals: .disconnected)
      try namespace.ip("link set lo up")
      expect(namespace.status(), equals: .disconnected)
      try namespace.ip("link add v0 type veth peer name v1\nlink set v0 up")
      // The other end is not up, so there is no carrier.
      expect(namespace.status(), equals: .disconnected)
      try namespace.ip("link set v1 up")
      try await namespace.becomes(.requiresConnection)
      try namespace.ip("addr add 10.0.0.1/24 dev v0")
      expect(namespace.status(), equals: .requiresConnection)
      expect(namespace.status(.address), equals: .connected)
      expect(namespace.status(.interface("v0")), equals: .connected)
      expect(namespace.status(.interface("v1")), equals: .requiresConnection)
      expect(namespace.status(.interface("v2")), equals: .disconnected)
      expect(namespace.status(.route(to: "10.0.0.9")), equals: .connected)
      expect(namespace.status(.route(to: "10.0.0.1")), equals: .connected)
      expect(namespace.status(.route(to: "10.0.1.9")), equals: .requiresConnection)
      try namespace.ip("route add default via 10.0.0.2")
      expect(namespace.status(), equals: .connected)
      expect(namespace.status(.route(to: "10.0.1.9")), equals: .connected)
      expect(namespace.status(excluding: { $0.kind == "veth" }), equals: .disconnected)
      expect(namespace.status(excluding: { $0.name == "v1" }), equals: .connected)
      try namespace.ip("route del default")
      expect(namespace.status(), equals: .requiresConnection)
      try namespace.ip("link del v0")
      expect(namespace.status(), equals: .disconnected)
    }

    @Test func `A subscriber receives the changes`() async throws {
      let namespace = try NetworkNamespace.make()
      defer { namespace.end() }
      let log = Receiver<NetworkConnectionStatus>()
      let subscription = namespace.observer().subscribe { log.receive($0) }
      expect(log.all, equals: [.disconnected])
      try namespace.ip("link add v0 type veth peer name v1\nlink set v1 up\nlink set v0 up")
      try await log.last(.requiresConnection)
      try namespace.ip("addr add 10.0.0.1/24 dev v0\nroute add default via 10.0.0.2")
      try await log.last(.connected)
      try namespace.ip("route del default")
      try await log.last(.requiresConnection)
      try namespace.ip("link set v0 down")
      try await log.last(.disconnected)
      expect(log.all, equals: [.disconnected, .requiresConnection, .connected, .requiresConnection, .disconnected])
      subscription.cancel()
    }

    @Test func `A subscriber is notified of IPv6`() async throws {
      let namespace = try NetworkNamespace.make()
      defer { namespace.end() }
      try namespace.ip("link add v0 type veth peer name v1\nlink set v1 up\nlink set v0 up")
      try await namespace.becomes(.requiresConnection)
      let (everywhere, nearby) = (Receiver<NetworkConnectionStatus>(), Receiver<NetworkConnectionStatus>())
      let subscriptions = [
        namespace.observer().subscribe { everywhere.receive($0) },
        namespace.observer(.address).subscribe { nearby.receive($0) },
      ]
      try namespace.ip("addr add 2001:db8::1/64 dev v0 nodad")
      try await nearby.last(.connected)
      try namespace.ip("route add default via 2001:db8::2 dev v0")
      try await everywhere.last(.connected)
      try namespace.ip("-6 route del default")
      try await everywhere.last(.requiresConnection)
      expect(everywhere.all, equals: [.requiresConnection, .connected, .requiresConnection])
      try namespace.ip("addr del 2001:db8::1/64 dev v0")
      try await nearby.last(.requiresConnection)
      expect(nearby.all, equals: [.requiresConnection, .connected, .requiresConnection])
      for subscription in subscriptions { subscription.cancel() }
    }

    @Test(
      arguments: [
        ("addr add 169.254.1.1/16 dev v0\nroute add default via 169.254.0.1", "addr add 10.0.0.1/24 dev v0"),
        ("addr add 169.254.1.1/16 dev v0 scope link\nroute add default dev v0", "addr add 10.0.0.1/24 dev v0"),
        (
          "addr add fe80::1/64 dev v0 nodad\n-6 route add default via fe80::2 dev v0",
          "addr add 2001:db8::1/64 dev v0 nodad"
        ),
      ]
    )
    func `A link-local address does not connect, and a global one that is added later does`(
      linkLocal: String,
      global: String
    ) async throws {
      let namespace = try NetworkNamespace.make()
      defer { namespace.end() }
      try namespace.ip("link add v0 type veth peer name v1\nlink set v1 up\nlink set v0 up")
      try await namespace.becomes(.requiresConnection)
      let log = Receiver<NetworkConnectionStatus>()
      let subscription = namespace.observer().subscribe { log.receive($0) }
      try namespace.ip(linkLocal)
      expect(namespace.status(), equals: .requiresConnection)
      expect(namespace.status(.route(to: "192.0.2.1")), equals: .requiresConnection)
      #expect(namespace.probedStatus() != .connected)
      try namespace.ip(global)
      try await log.last(.connected)
      expect(log.all, equals: [.requiresConnection, .connected])
      subscription.cancel()
    }

    @Test func `Routes that are removed with their link without a message do not count`() async throws {
      let namespace = try NetworkNamespace.make()
      defer { namespace.end() }
      try namespace.connect()
      let log = Receiver<NetworkConnectionStatus>()
      let subscription = namespace.observer().subscribe { log.receive($0) }
      expect(log.all, equals: [.connected])
      // This removes the route without a message.
      try namespace.ip("link set v0 down\nlink set v0 up")
      try await log.last(.requiresConnection)
      // On a busy machine the link is down long enough to be reported.
      expect(log.all.filter { $0 != .disconnected }, equals: [.connected, .requiresConnection])
      try namespace.ip("route add default via 10.0.0.2")
      try await log.last(.connected)
      subscription.cancel()
    }

    @Test func `A cable that is unplugged is noticed although the route stays`() async throws {
      let namespace = try NetworkNamespace.make()
      defer { namespace.end() }
      try namespace.connect()
      let log = Receiver<NetworkConnectionStatus>()
      let subscription = namespace.observer().subscribe { log.receive($0) }
      try namespace.ip("link set v1 down")
      try await log.last(.disconnected)
      try namespace.ip("link set v1 up")
      try await log.last(.connected)
      expect(log.all, equals: [.connected, .disconnected, .connected])
      subscription.cancel()
    }

    @Test func `A short loss of the cable is not reported`() async throws {
      let namespace = try NetworkNamespace.make()
      defer { namespace.end() }
      try namespace.connect()
      try await namespace.becomes(.connected)
      let (log, clock, loop) = (Receiver<NetworkConnectionStatus>(), ManualClock(), EventLoop())
      let observer = namespace.observer(settings: { settings in
        settings.loop = loop
        settings.deadlines = clock
        settings.deliver = { $0() }
      })
      let subscription = observer.subscribe { log.receive($0) }
      try namespace.ip("link set v1 down")
      try await namespace.becomes(.disconnected)
      try await loop.settle()
      clock.advance(by: .milliseconds(250))
      expect(clock.remainingTimes(), equals: [.milliseconds(200)])
      try namespace.ip("link set v1 up")
      try await namespace.becomes(.connected)
      try await loop.settle()
      clock.advance(by: .milliseconds(150))
      clock.advance(by: .seconds(1))
      expect(log.all, equals: [.connected])
      subscription.cancel()
    }

    @Test func `The status is right although messages are lost`() async throws {
      let namespace = try NetworkNamespace.make()
      defer { namespace.end() }
      let witness = try namespace.smallFeed()
      let loop = EventLoop()
      let observer = namespace.observer(settings: { settings in
        settings.loop = loop
        settings.deadlines = LoopDeadlines(loop: loop)
        settings.system.openFeed = { () throws(SystemFailure) in try namespace.smallFeed() }
      })
      let log = Receiver<NetworkConnectionStatus>()
      let subscription = observer.subscribe { log.receive($0) }
      expect(log.all, equals: [.disconnected])
      // The loop is blocked until all changes are made.
      let (isBlocked, mayContinue) = (Gate(), BlockingGate())
      let block = loop.schedule(after: .zero) {
        isBlocked.open()
        mayContinue.wait()
      }
      try await isBlocked.wait()
      for number in 0..<60 { try namespace.ip("link add a\(number) type veth peer name b\(number)") }
      try namespace.connect()
      expect(witness.firstFailure(), equals: ENOBUFS)
      mayContinue.open()
      try await log.last(.connected)
      block.cancel()
      subscription.cancel()
      #expect(!loop.isRunning)
    }

    @Test func `All kinds of routes to the internet count`() async throws {
      let namespace = try NetworkNamespace.make()
      defer { namespace.end() }
      try namespace.connect()
      func expectStatus(_ status: NetworkConnectionStatus, _ commands: String, then undo: String) throws {
        try namespace.ip(commands)
        expect(namespace.status(), equals: status, "\(commands)")
        try namespace.ip(undo)
      }
      try namespace.ip("route del default")
      expect(namespace.status(), equals: .requiresConnection)
      try expectStatus(
        .connected,
        "rule add from all lookup 52\nroute add default via 10.0.0.2 table 52",
        then: "route del default table 52\nrule del from all lookup 52"
      )
      try expectStatus(
        .connected,
        "route add default nexthop via 10.0.0.2 weight 1 nexthop via 10.0.0.3 weight 1",
        then: "route del default"
      )
      try expectStatus(
        .connected,
        "route add 0.0.0.0/1 via 10.0.0.2\nroute add 128.0.0.0/1 via 10.0.0.2",
        then: "route flush root 0/0 table main\naddr flush dev v0\naddr add 10.0.0.1/24 dev v0"
      )
      try expectStatus(.requiresConnection, "route add unreachable default", then: "route del unreachable default")
      try expectStatus(.requiresConnection, "route add blackhole default", then: "route del blackhole default")
      try expectStatus(
        .connected,
        "nexthop add id 1 via 10.0.0.2 dev v0\nroute add default nhid 1",
        then: "route del default\nnexthop del id 1"
      )
      try expectStatus(
        .connected,
        "addr add 2001:db8::1/64 dev v0 nodad\nroute add default via 2001:db8::2 dev v0",
        then: "-6 route del default"
      )
      // A default route without a source address.
      try expectStatus(.requiresConnection, "addr flush dev v0\nroute add default dev v0", then: "route del default")
    }

    @Test func `A bridge counts, its ports do not`() async throws {
      let namespace = try NetworkNamespace.make()
      defer { namespace.end() }
      try namespace.connect()
      try namespace.ip(
        """
        link add br0 type bridge
        link set br0 up
        link set v0 master br0
        """
      )
      expect(namespace.status(.interface("v0")), equals: .connected)
      expect(namespace.status(.address), equals: .requiresConnection)
      try namespace.ip("addr del 10.0.0.1/24 dev v0\naddr add 10.0.0.1/24 dev br0\nroute add default via 10.0.0.2")
      expect(namespace.status(), equals: .connected)
      expect(namespace.status(.address), equals: .connected)
    }

    @Test func `Probes find the same routes, and send nothing`() async throws {
      let namespace = try NetworkNamespace.make()
      defer { namespace.end() }
      expect(namespace.probedStatus(), equals: .disconnected)
      try namespace.connect()
      let sent = try #require(namespace.sentPackets)
      expect(namespace.probedStatus(), equals: .connected)
      expect(namespace.status(), equals: .connected)
      expect(namespace.sentPackets, equals: sent)
      try namespace.ip("route del default")
      expect(namespace.probedStatus(), equals: .disconnected)
    }
  }
#endif
