#if os(Linux)
  import Glibc
  import OperationEventLoop
  import TestFixtures
  import Testing

  @testable import OperationNetworkObserving

  @Suite(.bounded) struct NetlinkRequesterTests {
    private let kernel = FakeKernel(.online)

    private func links() throws(SystemFailure) -> NetlinkAnswer<NetworkLink> {
      var requester = try NetlinkRequester(capacity: 256, openChannel: self.kernel.system.openChannel)
      return try requester.send(.links) { NetworkLink($0) }
    }

    @Test func `An answer comes in several messages, and ends with the end of the dump`() throws {
      try expect(self.links().items, equals: NetworkSnapshot.online.links)
      expect(self.kernel.channelCount, equals: 1)
      expect(self.kernel.openChannelCount, equals: 0)
    }

    @Test func `Messages of other senders do not count`() throws {
      self.kernel.tamper { _, sequence, datagrams in
        let link = NetworkLink(index: 666, name: "evil", hardwareType: 1, flags: 0x1_1043)
        let bytes = MessageWriter.message(Netlink.MessageType.newLink, link.payload, sequence: sequence)
        let end = MessageWriter.end(sequence: sequence)
        return [NetlinkDatagram(bytes: bytes + end, length: bytes.count + end.count, sender: 4711)] + datagrams
      }
      try expect(self.links().items, equals: NetworkSnapshot.online.links)
    }

    @Test func `Answers to earlier requests do not count`() throws {
      self.kernel.tamper { _, sequence, datagrams in
        let bytes =
          MessageWriter.message(Netlink.MessageType.newLink, NetworkSnapshot.ethernet.payload, sequence: sequence &- 1)
          + MessageWriter.end(sequence: sequence &- 1)
        return [NetlinkDatagram(bytes: bytes, length: bytes.count, sender: 0)] + datagrams
      }
      try expect(self.links().items, equals: NetworkSnapshot.online.links)
    }

    @Test func `Too many messages that do not count end the request`() throws {
      self.kernel.tamper { _, _, datagrams in
        Array(
          repeating: NetlinkDatagram(bytes: datagrams[0].bytes, length: datagrams[0].length, sender: 4711),
          count: 2_000
        )
      }
      #expect(throws: SystemFailure(call: "recvfrom", code: EBADMSG)) { try self.links() }
    }

    @Test func `An answer that is interrupted by a change is requested again`() throws {
      self.kernel.tamper { attempt, sequence, datagrams in
        guard attempt < 3 else { return datagrams }
        let end = MessageWriter.end(sequence: sequence, flags: 2 | Netlink.Flags.dumpInterrupted)
        return [datagrams[0], NetlinkDatagram(bytes: end, length: end.count, sender: 0)]
      }
      let answer = try self.links()
      expect(answer.items, equals: NetworkSnapshot.online.links)
      #expect(!answer.isUncertain)
      expect(self.kernel.requestCount, equals: 3)
      expect(self.kernel.channelCount, equals: 1)
    }

    @Test func `An answer that is always interrupted is uncertain in the end`() throws {
      self.kernel.tamper { _, sequence, datagrams in
        let end = MessageWriter.end(sequence: sequence, flags: 2 | Netlink.Flags.dumpInterrupted)
        return datagrams.dropLast() + [NetlinkDatagram(bytes: end, length: end.count, sender: 0)]
      }
      let answer = try self.links()
      expect(answer.items, equals: NetworkSnapshot.online.links)
      #expect(answer.isUncertain)
      expect(self.kernel.requestCount, equals: 5)
      expect(self.kernel.channelCount, equals: 1)
    }

    @Test func `An answer that does not fit is requested again with a larger buffer`() throws {
      let names = (0..<40).map { NetworkLink(index: 10 + $0, name: "veth\($0)", hardwareType: 1, flags: 3) }
      self.kernel.change { $0.links = names }
      self.kernel.tamper { _, _, datagrams in
        let bytes = datagrams.flatMap(\.bytes)
        return [NetlinkDatagram(bytes: bytes, length: bytes.count, sender: 0)]
      }
      try expect(self.links().items, equals: names)
      expect(self.kernel.requestCount, equals: 2)
      expect(self.kernel.channelCount, equals: 2)
    }

    @Test func `An answer that never fits is a failure`() throws {
      self.kernel.tamper { _, _, datagrams in
        datagrams.map { NetlinkDatagram(bytes: $0.bytes, length: 1 << 40, sender: 0) }
      }
      #expect(throws: SystemFailure(call: "recvfrom", code: EMSGSIZE)) { try self.links() }
      expect(self.kernel.requestCount, equals: 5)
    }

    @Test func `An answer that is overrun is requested again`() throws {
      self.kernel.tamper { attempt, sequence, datagrams in
        guard attempt == 1 else { return datagrams }
        let bytes = MessageWriter.message(Netlink.MessageType.overrun, [], sequence: sequence)
        return [NetlinkDatagram(bytes: bytes, length: bytes.count, sender: 0)] + datagrams
      }
      try expect(self.links().items, equals: NetworkSnapshot.online.links)
      expect(self.kernel.requestCount, equals: 2)
      expect(self.kernel.channelCount, equals: 2)
    }

    @Test func `After a failure, requests use a new channel`() throws {
      var requester = try NetlinkRequester(openChannel: self.kernel.system.openChannel)
      self.kernel.tamper { attempt, _, datagrams in attempt == 1 ? [datagrams[0]] : datagrams }
      #expect(throws: SystemFailure(call: "recvfrom", code: EAGAIN)) { try requester.send(.links) { NetworkLink($0) } }
      try expect(requester.send(.links) { NetworkLink($0) }.items, equals: NetworkSnapshot.online.links)
      try expect(requester.send(.addresses) { NetworkAddress($0) }.items, equals: NetworkSnapshot.online.addresses)
      expect(self.kernel.channelCount, equals: 2)
    }

    @Test func `A refusal is reported, whether it is the first message or the last`() throws {
      self.kernel.tamper { _, sequence, _ in
        let bytes = MessageWriter.refusal(EACCES, sequence: sequence)
        return [NetlinkDatagram(bytes: bytes, length: bytes.count, sender: 0)]
      }
      try expect(self.links().refusal, equals: EACCES)
      self.kernel.tamper { _, sequence, datagrams in
        let end = MessageWriter.end(sequence: sequence, code: ENOENT)
        return datagrams.dropLast() + [NetlinkDatagram(bytes: end, length: end.count, sender: 0)]
      }
      try expect(self.links().refusal, equals: ENOENT)
    }

    @Test func `A kernel that is silent is a failure`() throws {
      self.kernel.tamper { _, _, _ in [] }
      #expect(throws: SystemFailure(call: "recvfrom", code: EAGAIN)) { try self.links() }
    }
  }
#endif
