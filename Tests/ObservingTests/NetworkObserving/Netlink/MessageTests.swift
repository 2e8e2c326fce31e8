#if os(Linux)
  import OperationCore
  import OperationTesting
  import TestFixtures
  import Testing

  @testable import OperationNetworkObserving

  @Suite(.bounded) struct MessageTests {
    @Test func `Written messages are read`() {
      let payloads: [[UInt8]] = [[], [1], [1, 2, 3, 4], Array(0...250)]
      let bytes = payloads.enumerated().flatMap { number, payload in
        MessageWriter.message(UInt16(16 + number), payload, sequence: UInt32(number), flags: UInt16(number))
      }
      let messages = NetlinkMessage.messages(in: bytes)
      expect(messages.map { Array($0.payload) }, equals: payloads)
      expect(messages.map(\.type), equals: [16, 17, 18, 19])
      expect(messages.map(\.sequence), equals: [0, 1, 2, 3])
      expect(messages.map(\.flags), equals: [0, 1, 2, 3])
    }

    @Test func `Links, addresses and routes are read as they are written`() {
      let link = NetworkLink(index: 7, name: "v0", hardwareType: 1, flags: 0x1_1043, master: 3, kind: "veth")
      expect(NetworkLink(link.payload[...]), equals: link)
      expect(NetworkLink(NetworkSnapshot.loopback.payload[...]), equals: NetworkSnapshot.loopback)
      let address = NetworkAddress(link: 7, family: 10, scope: 253, flags: 0x4c0, bytes: [0xfe, 0x80] + Array(1...14))
      expect(NetworkAddress(address.payload[...]), equals: address)
      // On a point-to-point link, `address` is the address of the peer, and `local` that of the host.
      let peer = MessageWriter.attribute(Netlink.AddressAttribute.address, [10, 0, 0, 2])
      let own = MessageWriter.attribute(Netlink.AddressAttribute.local, [10, 0, 0, 1])
      let bytes: [UInt8] = [2, 32, 0, 0, 7, 0, 0, 0] + peer + own
      expect(NetworkAddress(bytes[...])?.bytes, equals: [10, 0, 0, 1])
      let source: [UInt8] = [10, 0, 0, 7]
      var route = NetworkRoute(family: 2, prefixLength: 24, table: 1_000_052, type: 7, links: [7], source: source)
      expect(NetworkRoute(route.payload[...]), equals: route)
      route.links = [7, 8, 9]
      expect(NetworkRoute(route.payload[...]), equals: route)
    }

    @Test func `Requests have the sizes that a strict kernel requires`() throws {
      let destination = try #require(NetworkDestination("2001:db8::1"))
      let sizes: [(NetlinkRequest, Int)] = [
        (.links, 32), (.addresses, 24), (.routes(family: 2), 28), (.route(to: destination), 48),
      ]
      for (request, size) in sizes {
        let bytes = request.bytes(sequence: 9)
        let message = try #require(NetlinkMessage.messages(in: bytes).first)
        expect(bytes.count, equals: size)
        expect(message.sequence, equals: 9)
        expect((message.flags & 0x300 == 0x300), equals: request.isDump)
      }
    }

    @Test func `Destinations are addresses, not names`() {
      expect(NetworkDestination("192.0.2.1")?.bytes, equals: [192, 0, 2, 1])
      expect(NetworkDestination("::1")?.bytes.count, equals: 16)
      for text in ["", "localhost", "192.0.2", "192.0.2.1:80", "::1%lo", "2001:db8::1/64"] {
        expect(NetworkDestination(text), equals: nil, "\(text)")
      }
      expect(
        NetworkDestination.anywhere,
        equals: ["198.41.0.4", "2001:503:ba3e::2:30"].compactMap { NetworkDestination($0) }
      )
    }

    @Test func `A route to a name is reported, and a default route required instead`() {
      expectWarning(.invalidArgument) {
        expect(NetlinkNetworkObserver.Requirement.route(to: "example.com"), equals: .defaultRoute)
      }
      #expect(NetlinkNetworkObserver.Requirement.route(to: "192.0.2.1") != .defaultRoute)
    }

    @Test func `A truncated message is left out`() {
      let whole = MessageWriter.message(16, NetworkSnapshot.ethernet.payload, sequence: 1)
      for length in 0..<whole.count {
        #expect(NetlinkMessage.messages(in: Array(whole.prefix(length))).isEmpty)
      }
      for length in 0..<Netlink.linkSize {
        expect(NetworkLink(NetworkSnapshot.ethernet.payload.prefix(length)), equals: nil)
      }
      for length in 0..<Netlink.addressSize {
        expect(NetworkAddress(NetworkSnapshot.ethernetAddress.payload.prefix(length)), equals: nil)
      }
      for length in 0..<Netlink.routeSize {
        expect(NetworkRoute(NetworkSnapshot.defaultRoute.payload.prefix(length)), equals: nil)
      }
    }

    @Test func `Lengths that are too short do not make the reader loop forever`() {
      #expect(NetlinkMessage.messages(in: [UInt8](repeating: 0, count: 64)).isEmpty)
      #expect(NetlinkAttribute.attributes(in: [UInt8](repeating: 0, count: 64)[...]).isEmpty)
      let route = NetworkRoute.defaultPayload(multipath: [UInt8](repeating: 0, count: 64))
      expect(NetworkRoute(route[...])?.links, equals: [])
    }
  }

  extension NetworkRoute {
    fileprivate static func defaultPayload(multipath: [UInt8]) -> [UInt8] {
      [UInt8](repeating: 0, count: Netlink.routeSize)
        + MessageWriter.attribute(Netlink.RouteAttribute.multipath, multipath)
    }
  }
#endif
