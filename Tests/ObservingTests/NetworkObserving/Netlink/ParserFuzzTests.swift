#if os(Linux)
  import Synchronization
  import TestFixtures
  import Testing

  @testable import OperationNetworkObserving

  @Suite(.bounded) struct ParserFuzzTests {
    @Test(arguments: 0..<8)
    func `Random bytes are read without harm`(seed: UInt64) {
      var generator = SeededGenerator(seed: seed)
      for _ in 0..<2_000 {
        let count = Int.random(in: 0...300, using: &generator)
        self.read((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
      }
    }

    @Test(arguments: 0..<8)
    func `Dumps with changed, lost and added bytes are read without harm`(seed: UInt64) {
      var generator = SeededGenerator(seed: seed)
      let dump = Self.dump
      expect(NetlinkMessage.messages(in: dump).count, equals: 8)
      for _ in 0..<2_000 {
        var bytes = dump
        for _ in 0..<Int.random(in: 1...8, using: &generator) {
          let place = Int.random(in: 0..<bytes.count, using: &generator)
          switch Int.random(in: 0..<5, using: &generator) {
          case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
          case 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
          case 2: bytes.removeSubrange(place..<min(place + 4, bytes.count))
          case 3: bytes.insert(contentsOf: [0xff, 0xff, 0xff, 0xff], at: place)
          default: bytes.removeLast(min(bytes.count - 1, Int.random(in: 0...40, using: &generator)))
          }
        }
        self.read(bytes)
      }
    }

    @Test(arguments: 0..<8)
    func `Random answers of the kernel still give a status`(seed: UInt64) {
      let generator = Mutex(SeededGenerator(seed: seed))
      for _ in 0..<50 {
        let kernel = FakeKernel(.online)
        kernel.tamper { _, _, datagrams in
          datagrams.map { datagram in
            var datagram = datagram
            generator.withLock { generator in
              for _ in 0..<Int.random(in: 0...3, using: &generator) where !datagram.bytes.isEmpty {
                let place = Int.random(in: 0..<datagram.bytes.count, using: &generator)
                datagram.bytes[place] = UInt8.random(in: 0...255, using: &generator)
              }
              if Int.random(in: 0..<10, using: &generator) == 0 { datagram.length += 1_000 }
              if Int.random(in: 0..<10, using: &generator) == 0 { datagram.sender = 1 }
            }
            return datagram
          }
        }
        let target = NetworkTarget(kind: .defaultRoute)
        let (_, reading) = NetworkReader.open(kernel.system, for: target)
        #expect(NetworkConnectionStatus.allCases.contains(target.status(reading)))
        #expect(kernel.requestCount < 100)
      }
    }

    /// Parses bytes, and expects the results to lie within them.
    private func read(_ bytes: [UInt8]) {
      let messages = NetlinkMessage.messages(in: bytes)
      #expect(messages.count <= bytes.count / Netlink.headerSize)
      for message in messages {
        #expect(message.payload.startIndex >= 0 && message.payload.endIndex <= bytes.count)
        let attributes = NetlinkAttribute.attributes(in: message.payload)
        #expect(attributes.count <= message.payload.count / Netlink.attributeHeaderSize)
        #expect(attributes.reduce(0) { $0 + $1.value.count } <= message.payload.count)
        _ = message.errorCode
        if let link = NetworkLink(message.payload) { #expect(link.name.utf8.count <= 3 * message.payload.count) }
        if let route = NetworkRoute(message.payload) { #expect(route.links.count <= message.payload.count / 4) }
        _ = NetworkAddress(message.payload)?.isUsable
      }
    }

    private static var dump: [UInt8] {
      let links = [
        NetworkSnapshot.loopback, NetworkLink(index: 9, name: "v0", hardwareType: 1, flags: 3, master: 2, kind: "veth"),
      ]
      let routes = [
        NetworkSnapshot.defaultRoute,
        NetworkRoute(
          family: 10,
          prefixLength: 0,
          table: 254,
          type: 1,
          links: [2, 9],
          source: Array(repeating: 0x20, count: 16)
        ),
      ]
      return links.flatMap { MessageWriter.message(Netlink.MessageType.newLink, $0.payload, sequence: 1) }
        + MessageWriter.message(Netlink.MessageType.newAddress, NetworkSnapshot.ethernetAddress.payload, sequence: 1)
        + routes.flatMap { MessageWriter.message(Netlink.MessageType.newRoute, $0.payload, sequence: 1) }
        + MessageWriter.refusal(16, sequence: 2)
        + MessageWriter.message(Netlink.MessageType.overrun, [], sequence: 2)
        + MessageWriter.end(sequence: 1)
    }
  }
#endif
