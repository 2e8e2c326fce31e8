#if os(Linux)
  /// A request to the kernel.
  enum NetlinkRequest: Hashable, Sendable {
    case links
    case addresses
    /// The unicast routes of the main table.
    case routes(family: UInt8)
    /// The route that the kernel would use.
    case route(to: NetworkDestination)

    /// Whether the answer is a list that ends with a separate message.
    var isDump: Bool {
      if case .route = self { false } else { true }
    }

    /// The message type of the answer.
    var answerType: UInt16 {
      switch self {
      case .links: Netlink.MessageType.newLink
      case .addresses: Netlink.MessageType.newAddress
      case .routes, .route: Netlink.MessageType.newRoute
      }
    }

    /// The encoded request.
    func bytes(sequence: UInt32) -> [UInt8] {
      let payload = self.payload
      var bytes: [UInt8] = []
      bytes.append(integer: UInt32(Netlink.headerSize + payload.count))
      bytes.append(integer: self.type)
      bytes.append(integer: self.isDump ? Netlink.Flags.request | Netlink.Flags.dump : Netlink.Flags.request)
      bytes.append(integer: sequence)
      bytes.append(integer: UInt32(0))
      return bytes + payload
    }

    private var type: UInt16 {
      switch self {
      case .links: Netlink.MessageType.getLink
      case .addresses: Netlink.MessageType.getAddress
      case .routes, .route: Netlink.MessageType.getRoute
      }
    }

    /// The fixed part and the attributes. The fixed part is complete, as the kernel's strict checking requires.
    private var payload: [UInt8] {
      switch self {
      case .links: return [UInt8](repeating: 0, count: Netlink.linkSize)
      case .addresses: return [UInt8](repeating: 0, count: Netlink.addressSize)
      case .routes(let family):
        var bytes = [UInt8](repeating: 0, count: Netlink.routeSize)
        bytes[0] = family
        bytes[4] = UInt8(Netlink.mainTable)
        bytes[7] = Netlink.unicastRoute
        return bytes
      case .route(let destination):
        var bytes = [UInt8](repeating: 0, count: Netlink.routeSize)
        bytes[0] = destination.family
        bytes[1] = UInt8(destination.bytes.count * 8)
        bytes.append(integer: UInt16(Netlink.attributeHeaderSize + destination.bytes.count))
        bytes.append(integer: Netlink.RouteAttribute.destination)
        return bytes + destination.bytes
      }
    }
  }
#endif
