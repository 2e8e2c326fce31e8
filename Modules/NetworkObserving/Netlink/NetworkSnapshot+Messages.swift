#if os(Linux)
  extension NetworkLink {
    /// Parses a link message; nil if it is too short or has no name.
    init?(_ payload: ArraySlice<UInt8>) {
      guard payload.count >= Netlink.linkSize,
        let hardwareType: UInt16 = payload.integer(at: 2),
        let index: Int32 = payload.integer(at: 4),
        let flags: UInt32 = payload.integer(at: 8)
      else { return nil }
      var (name, master, kind): (String?, Int?, String?) = (nil, nil, nil)
      for attribute in NetlinkAttribute.attributes(in: payload.dropFirst(Netlink.linkSize)) {
        switch attribute.type {
        case Netlink.LinkAttribute.name: name = attribute.value.text
        case Netlink.LinkAttribute.master: master = attribute.value.integer(at: 0, as: Int32.self).map(Int.init)
        case Netlink.LinkAttribute.info:
          let info = NetlinkAttribute.attributes(in: attribute.value)
          kind = info.first { $0.type == Netlink.LinkAttribute.infoKind }?.value.text
        default: break
        }
      }
      guard let name else { return nil }
      self.init(
        index: Int(index),
        name: name,
        hardwareType: Int(hardwareType),
        flags: flags,
        master: master,
        kind: kind
      )
    }
  }

  extension NetworkAddress {
    /// Parses an address message; nil if it is too short.
    init?(_ payload: ArraySlice<UInt8>) {
      guard payload.count >= Netlink.addressSize,
        let family: UInt8 = payload.integer(at: 0),
        let shortFlags: UInt8 = payload.integer(at: 2),
        let scope: UInt8 = payload.integer(at: 3),
        let link: UInt32 = payload.integer(at: 4)
      else { return nil }
      let attributes = NetlinkAttribute.attributes(in: payload.dropFirst(Netlink.addressSize))
      func value(_ type: UInt16) -> ArraySlice<UInt8>? { attributes.first { $0.type == type }?.value }
      // On a point-to-point link, the attribute `address` is the address of the peer.
      let bytes = value(Netlink.AddressAttribute.local) ?? value(Netlink.AddressAttribute.address) ?? []
      self.init(
        link: Int(link),
        family: family,
        scope: scope,
        flags: value(Netlink.AddressAttribute.flags)?.integer(at: 0) ?? UInt32(shortFlags),
        bytes: Array(bytes)
      )
    }
  }

  extension NetworkRoute {
    /// Parses a route message; nil if it is too short.
    init?(_ payload: ArraySlice<UInt8>) {
      guard payload.count >= Netlink.routeSize,
        let family: UInt8 = payload.integer(at: 0),
        let prefixLength: UInt8 = payload.integer(at: 1),
        let shortTable: UInt8 = payload.integer(at: 4),
        let type: UInt8 = payload.integer(at: 7)
      else { return nil }
      var (table, links, source) = (UInt32(shortTable), [Int](), [UInt8]?.none)
      for attribute in NetlinkAttribute.attributes(in: payload.dropFirst(Netlink.routeSize)) {
        switch attribute.type {
        case Netlink.RouteAttribute.table: table = attribute.value.integer(at: 0) ?? table
        case Netlink.RouteAttribute.outputLink:
          if let link: UInt32 = attribute.value.integer(at: 0) { links.append(Int(link)) }
        case Netlink.RouteAttribute.preferredSource:
          if attribute.value.contains(where: { $0 != 0 }) { source = Array(attribute.value) }
        case Netlink.RouteAttribute.multipath: links += NetworkRoute.hops(in: attribute.value)
        default: break
        }
      }
      self.init(
        family: family,
        prefixLength: Int(prefixLength),
        table: table,
        type: type,
        links: links,
        source: source
      )
    }

    /// The links of a multipath route: a list of entries that each begin with their length.
    private static func hops(in bytes: ArraySlice<UInt8>) -> [Int] {
      var hops: [Int] = []
      var rest = bytes
      while let length: UInt16 = rest.integer(at: 0), let link: UInt32 = rest.integer(at: 4), length >= 8 {
        hops.append(Int(link))
        rest = rest.dropFirst(Netlink.aligned(Int(length)))
      }
      return hops
    }
  }
#endif
