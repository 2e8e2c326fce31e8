#if os(Linux)
  /// A link, as the kernel reports it.
  struct NetworkLink: Hashable, Sendable {
    var index: Int
    var name: String
    /// The type of hardware, as an ARP number.
    var hardwareType: Int
    var flags: UInt32
    /// The index of the bridge or bond that the link is a port of.
    var master: Int?
    /// The kind of virtual device; nil for hardware.
    var kind: String?

    var isLoopback: Bool { self.flags & Netlink.LinkFlags.loopback != 0 }

    /// Whether the link is switched on and has a carrier.
    var isRunning: Bool {
      let running = Netlink.LinkFlags.up | Netlink.LinkFlags.running | Netlink.LinkFlags.lowerUp
      return self.flags & running == running
    }
  }

  /// An address, as the kernel reports it.
  struct NetworkAddress: Hashable, Sendable {
    var link: Int
    var family: UInt8
    var scope: UInt8
    var flags: UInt32
    /// The 4 or 16 bytes of the address in network byte order.
    var bytes: [UInt8]

    /// Whether hosts beyond the same link can be reached from the address.
    var isUsable: Bool {
      let isSettled =
        self.flags & Netlink.AddressFlags.tentative == 0 || self.flags & Netlink.AddressFlags.optimistic != 0
      let isUniversal = self.scope == Netlink.universeScope && !Netlink.isLinkLocal(self.bytes)
      return isUniversal && isSettled && self.flags & Netlink.AddressFlags.failed == 0
    }
  }

  /// A route, as the kernel reports it.
  struct NetworkRoute: Hashable, Sendable {
    var family: UInt8
    var prefixLength: Int
    var table: UInt32
    var type: UInt8
    /// The links that the route leads through.
    var links: [Int]
    /// The source address; nil if the route has none.
    var source: [UInt8]?

    var isDefault: Bool {
      self.prefixLength == 0 && self.table == Netlink.mainTable && self.type == Netlink.unicastRoute
    }
  }

  /// The state of the network as read at one time.
  struct NetworkSnapshot: Hashable, Sendable {
    var links: [NetworkLink] = []
    var addresses: [NetworkAddress] = []
    /// The default routes.
    var routes: [NetworkRoute] = []
    /// The routes that the kernel would use to the target's destinations.
    var lookups: [NetworkRoute] = []
  }
#endif
