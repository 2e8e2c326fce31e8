#if os(Linux)
  /// One message of a datagram.
  struct NetlinkMessage: Hashable, Sendable {
    var type: UInt16
    var flags: UInt16
    var sequence: UInt32
    var payload: ArraySlice<UInt8>
  }

  extension NetlinkMessage {
    /// The messages of a datagram, up to the first invalid one.
    static func messages(in datagram: [UInt8]) -> [NetlinkMessage] {
      var messages: [NetlinkMessage] = []
      var rest = datagram[...]
      while let length: UInt32 = rest.integer(at: 0),
        let type: UInt16 = rest.integer(at: 4),
        let flags: UInt16 = rest.integer(at: 6),
        let sequence: UInt32 = rest.integer(at: 8),
        length >= Netlink.headerSize, length <= rest.count
      {
        let payload = rest.dropFirst(Netlink.headerSize).prefix(Int(length) - Netlink.headerSize)
        messages.append(NetlinkMessage(type: type, flags: flags, sequence: sequence, payload: payload))
        rest = rest.dropFirst(Netlink.aligned(Int(length)))
      }
      return messages
    }

    /// The code of an error, or of the end of a dump; 0 for success.
    var errorCode: CInt? {
      // The kernel sends negative codes. On old kernels, the end of a dump has no code.
      guard let code: CInt = self.payload.integer(at: 0) else {
        return self.type == Netlink.MessageType.done ? 0 : nil
      }
      return code > .min ? abs(code) : nil
    }
  }

  /// One attribute of a message.
  struct NetlinkAttribute: Hashable, Sendable {
    var type: UInt16
    var value: ArraySlice<UInt8>

    /// Parses the attributes after the fixed part of a message, up to the first invalid one.
    static func attributes(in bytes: ArraySlice<UInt8>) -> [NetlinkAttribute] {
      var attributes: [NetlinkAttribute] = []
      var rest = bytes
      while let length: UInt16 = rest.integer(at: 0),
        let type: UInt16 = rest.integer(at: 2),
        length >= Netlink.attributeHeaderSize, length <= rest.count
      {
        let value = rest.dropFirst(Netlink.attributeHeaderSize).prefix(Int(length) - Netlink.attributeHeaderSize)
        // The two highest bits are flags for the format of the value.
        attributes.append(NetlinkAttribute(type: type & 0x3fff, value: value))
        rest = rest.dropFirst(Netlink.aligned(Int(length)))
      }
      return attributes
    }
  }
#endif
