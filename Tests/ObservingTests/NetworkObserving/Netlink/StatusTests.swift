#if os(Linux)
  import TestFixtures
  import Testing

  @testable import OperationNetworkObserving

  @Suite(.bounded) struct StatusTests {
    private func status(
      _ kind: NetworkTarget.Kind = .defaultRoute,
      excluding name: String? = nil,
      _ change: (inout NetworkSnapshot) -> Void
    ) -> NetworkConnectionStatus {
      var snapshot = NetworkSnapshot.online
      change(&snapshot)
      var target = NetworkTarget(kind: kind)
      if let name { target.isExcluded = { $0.name == name } }
      return target.status(.snapshot(snapshot, isUncertain: false))
    }

    @Test func `A running link with an address and a default route is connected`() {
      expect(self.status { _ in }, equals: .connected)
    }

    @Test func `Without a link, an address or a default route it is not connected`() {
      expect(self.status { $0.addresses = [] }, equals: .requiresConnection)
      expect(self.status { $0.routes = [] }, equals: .requiresConnection)
      expect(self.status { $0.links = [NetworkSnapshot.loopback] }, equals: .disconnected)
      expect(self.status { $0 = NetworkSnapshot() }, equals: .disconnected)
    }

    @Test(arguments: [UInt32(0x1), 0x40, 0x1_0000])
    func `A link runs when it is up and has a carrier`(flag: UInt32) {
      expect(self.status { $0.links[1].flags &= ~flag }, equals: .disconnected)
    }

    @Test func `Only usable global addresses count`() {
      expect(self.status { $0.addresses[0].scope = 253 }, equals: .requiresConnection)
      expect(self.status { $0.addresses[0].flags = Netlink.AddressFlags.tentative }, equals: .requiresConnection)
      expect(self.status { $0.addresses[0].flags = Netlink.AddressFlags.failed }, equals: .requiresConnection)
      expect(self.status { $0.addresses[0].flags = 0x44 }, equals: .connected)
      expect(self.status { $0.addresses[0].flags = 0x20 }, equals: .connected)
    }

    @Test(arguments: [[169, 254, 3, 4], [0xfe, 0x80] + Array(repeating: 1, count: 14)] as [[UInt8]])
    func `A link-local address reaches only hosts on its link, whatever its scope`(
      address: [UInt8]
    ) throws {
      let family: UInt8 = address.count == 4 ? 2 : 10
      let lookup = NetworkRoute(family: family, prefixLength: 32, table: 254, type: 1, links: [2], source: address)
      for scope in [UInt8(0), 253] {
        func status(_ kind: NetworkTarget.Kind) -> NetworkConnectionStatus {
          self.status(kind) { snapshot in
            snapshot.addresses = [NetworkAddress(link: 2, family: family, scope: scope, flags: 0x80, bytes: address)]
            snapshot.routes[0].family = family
            snapshot.lookups = [lookup]
          }
        }
        expect(status(.defaultRoute), equals: .requiresConnection)
        expect(status(.address), equals: .requiresConnection)
        expect(status(.interface("eth0")), equals: .requiresConnection)
        expect(status(.route(try #require(NetworkDestination("192.0.2.1")))), equals: .requiresConnection)
        // A neighbour answers to any address.
        for neighbour in ["169.254.1.1", "fe80::1"] {
          expect(status(.route(try #require(NetworkDestination(neighbour)))), equals: .connected)
        }
      }
    }

    @Test func `The source address of a route has to be global`() {
      let lookup = NetworkRoute(family: 2, prefixLength: 32, table: 254, type: 1, links: [2], source: [10, 0, 0, 1])
      expect(
        self.status { snapshot in
          snapshot.lookups = [lookup]
          snapshot.addresses[0].scope = 253
        },
        equals: .requiresConnection
      )
      // The same address on another link may be valid where this one is not.
      expect(
        self.status { snapshot in
          snapshot.lookups = [lookup]
          snapshot.addresses[0].scope = 253
          snapshot.addresses.append(NetworkAddress(link: 1, family: 2, scope: 0, flags: 0x80, bytes: [10, 0, 0, 1]))
        },
        equals: .connected
      )
    }

    @Test func `A route needs an address of its family`() {
      expect(self.status { $0.addresses[0].family = 10 }, equals: .requiresConnection)
      expect(
        self.status { snapshot in
          snapshot.addresses[0].family = 10
          snapshot.routes[0].family = 10
        },
        equals: .connected
      )
    }

    @Test func `Only unicast default routes of the main table count`() {
      expect(self.status { $0.routes[0].prefixLength = 8 }, equals: .requiresConnection)
      expect(self.status { $0.routes[0].table = 52 }, equals: .requiresConnection)
      expect(self.status { $0.routes[0].type = 7 }, equals: .requiresConnection)
      expect(self.status { $0.routes[0].links = [] }, equals: .requiresConnection)
      expect(self.status { $0.routes[0].links = [8, 2] }, equals: .connected)
    }

    @Test func `A route that the kernel would use counts as well`() {
      let lookup = NetworkRoute(family: 2, prefixLength: 32, table: 52, type: 1, links: [2], source: [10, 0, 0, 1])
      func status(_ change: (inout NetworkRoute) -> Void = { _ in }) -> NetworkConnectionStatus {
        var lookup = lookup
        change(&lookup)
        return self.status { snapshot in
          snapshot.routes = []
          snapshot.lookups = [lookup]
        }
      }
      expect(status(), equals: .connected)
      expect(status { $0.links = [1] }, equals: .requiresConnection)
      expect(status { $0.type = 7 }, equals: .requiresConnection)
      expect(status { $0.source = nil }, equals: .requiresConnection)
    }

    @Test func `The ports of a bridge do not count`() {
      expect(self.status { $0.links[1].master = 3 }, equals: .disconnected)
    }

    @Test func `Excluded interfaces do not count`() {
      expect(self.status(excluding: "eth0") { _ in }, equals: .disconnected)
      expect(self.status(excluding: "eth1") { _ in }, equals: .connected)
      let lookup = NetworkRoute(family: 2, prefixLength: 32, table: 52, type: 1, links: [2], source: [10, 0, 0, 1])
      expect(self.status(excluding: "eth0") { $0.lookups = [lookup] }, equals: .disconnected)
    }

    @Test func `An address is enough if required, but not that of a container`() {
      expect(self.status(.address) { $0.routes = [] }, equals: .connected)
      expect(self.status(.address) { $0.addresses = [] }, equals: .requiresConnection)
      for name in ["docker0", "br-4711", "virbr0", "veth1", "cni0", "flannel.1", "cali0", "lxcbr0"] {
        expect(self.status(.address) { $0.links[1].name = name }, equals: .requiresConnection, "\(name)")
      }
    }

    @Test func `One interface may be required`() {
      expect(self.status(.interface("eth0")) { $0.routes = [] }, equals: .connected)
      expect(self.status(.interface("eth0")) { $0.addresses = [] }, equals: .requiresConnection)
      expect(self.status(.interface("eth1")) { _ in }, equals: .disconnected)
      expect(self.status(.interface("lo")) { _ in }, equals: .requiresConnection)
      let host = NetworkAddress(link: 1, family: 2, scope: 254, flags: 0x80, bytes: [127, 0, 0, 1])
      expect(self.status(.interface("lo")) { $0.addresses.append(host) }, equals: .connected)
    }

    @Test func `A route to one address may be required`() throws {
      let target = NetworkTarget.Kind.route(try #require(NetworkDestination("192.0.2.1")))
      let lookup = NetworkRoute(family: 2, prefixLength: 32, table: 254, type: 1, links: [2], source: [10, 0, 0, 1])
      expect(self.status(target) { _ in }, equals: .requiresConnection)
      expect(self.status(target) { $0.lookups = [lookup] }, equals: .connected)
      expect(
        self.status(target) { snapshot in
          snapshot.lookups = [lookup]
          snapshot.lookups[0].type = Netlink.localRoute
          snapshot.lookups[0].links = [1]
        },
        equals: .connected
      )
      expect(self.status(target) { $0 = .alone }, equals: .disconnected)
    }

    @Test func `A process that can read nothing counts as connected`() {
      let target = NetworkTarget(kind: .defaultRoute)
      expect(target.status(.nothing), equals: .connected)
      expect(target.status(.route(true)), equals: .connected)
      expect(target.status(.route(false)), equals: .disconnected)
    }
  }
#endif
