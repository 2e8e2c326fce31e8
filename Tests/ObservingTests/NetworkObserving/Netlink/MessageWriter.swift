#if os(Linux)
  @testable import OperationNetworkObserving

  /// Writes messages as the kernel does.
  enum MessageWriter {
    static func message(
      _ type: UInt16,
      _ payload: [UInt8],
      sequence: UInt32,
      flags: UInt16 = 2
    ) -> [UInt8] {
      var bytes: [UInt8] = []
      bytes.append(integer: UInt32(16 + payload.count))
      bytes.append(integer: type)
      bytes.append(integer: flags)
      bytes.append(integer: sequence)
      bytes.append(integer: UInt32(4711))
      return self.padded(bytes + payload)
    }

    static func end(sequence: UInt32, code: CInt = 0, flags: UInt16 = 2) -> [UInt8] {
      var payload: [UInt8] = []
      payload.append(integer: -code)
      return self.message(Netlink.MessageType.done, payload, sequence: sequence, flags: flags)
    }

    static func refusal(_ code: CInt, sequence: UInt32) -> [UInt8] {
      var payload: [UInt8] = []
      payload.append(integer: -code)
      return self.message(
        Netlink.MessageType.error,
        payload + [UInt8](repeating: 0, count: 16),
        sequence: sequence,
        flags: 0
      )
    }

    static func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
      var bytes: [UInt8] = []
      bytes.append(integer: UInt16(4 + value.count))
      bytes.append(integer: type)
      return self.padded(bytes + value)
    }

    static func integer(_ value: some FixedWidthInteger) -> [UInt8] {
      var bytes: [UInt8] = []
      bytes.append(integer: value)
      return bytes
    }

    private static func padded(_ bytes: [UInt8]) -> [UInt8] {
      bytes + [UInt8](repeating: 0, count: Netlink.aligned(bytes.count) - bytes.count)
    }
  }

  extension NetworkLink {
    var payload: [UInt8] {
      var bytes: [UInt8] = [0, 0]
      bytes.append(integer: UInt16(self.hardwareType))
      bytes.append(integer: Int32(self.index))
      bytes.append(integer: self.flags)
      bytes.append(integer: UInt32(0))
      bytes += MessageWriter.attribute(Netlink.LinkAttribute.name, Array(self.name.utf8) + [0])
      if let master {
        bytes += MessageWriter.attribute(Netlink.LinkAttribute.master, MessageWriter.integer(Int32(master)))
      }
      if let kind {
        let info = MessageWriter.attribute(Netlink.LinkAttribute.infoKind, Array(kind.utf8) + [0])
        // The nested kind is marked in the highest bit.
        bytes += MessageWriter.attribute(Netlink.LinkAttribute.info | 0x8000, info)
      }
      return bytes
    }
  }

  extension NetworkAddress {
    var payload: [UInt8] {
      var bytes: [UInt8] = [self.family, 24, UInt8(truncatingIfNeeded: self.flags), self.scope]
      bytes.append(integer: UInt32(self.link))
      bytes += MessageWriter.attribute(Netlink.AddressAttribute.address, self.bytes)
      return bytes + MessageWriter.attribute(Netlink.AddressAttribute.flags, MessageWriter.integer(self.flags))
    }
  }

  extension NetworkRoute {
    var payload: [UInt8] {
      var bytes: [UInt8] = [self.family, UInt8(self.prefixLength), 0, 0, UInt8(truncatingIfNeeded: self.table), 0, 0]
      bytes.append(self.type)
      bytes.append(integer: UInt32(0))
      bytes += MessageWriter.attribute(Netlink.RouteAttribute.table, MessageWriter.integer(self.table))
      if let source { bytes += MessageWriter.attribute(Netlink.RouteAttribute.preferredSource, source) }
      if self.links.count == 1 {
        bytes += MessageWriter.attribute(
          Netlink.RouteAttribute.outputLink,
          MessageWriter.integer(UInt32(self.links[0]))
        )
      } else {
        var hops: [UInt8] = []
        for link in self.links {
          hops.append(integer: UInt16(8))
          hops.append(integer: UInt16(0))
          hops.append(integer: UInt32(link))
        }
        bytes += MessageWriter.attribute(Netlink.RouteAttribute.multipath, hops)
      }
      return bytes
    }
  }
#endif
