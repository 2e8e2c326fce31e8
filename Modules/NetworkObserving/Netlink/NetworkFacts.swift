#if os(Linux)
  /// What the kernel says of a link.
  struct NetworkLink: Hashable, Sendable {
    var index: Int
    var name: String
    /// The kind of hardware, by the numbers of ARP.
    var hardwareType: Int
    var flags: UInt32
    /// The bridge or bond that it is a port of.
    var master: Int?
    /// What kind of virtual device it is.
    var kind: String?

    var isLoopback: Bool { self.flags & Netlink.LinkFlags.loopback != 0 }

    /// Whether it is switched on and has a carrier.
    var isRunning: Bool {
      let running = Netlink.LinkFlags.up | Netlink.LinkFlags.running | Netlink.LinkFlags.lowerUp
      return self.flags & running == running
    }
  }

  /// What the kernel says of an address.
  struct NetworkAddress: Hashable, Sendable {
    var link: Int
    var family: UInt8
    var scope: UInt8
    var flags: UInt32
    /// The address itself, in the order of the network: 4 or 16.
    var bytes: [UInt8]

    /// Whether hosts other than those on the same link can be reached from it.
    var isUsable: Bool {
      let isSettled =
        self.flags & Netlink.AddressFlags.tentative == 0 || self.flags & Netlink.AddressFlags.optimistic != 0
      let isUniversal = self.scope == Netlink.universeScope && !Netlink.isLinkLocal(self.bytes)
      return isUniversal && isSettled && self.flags & Netlink.AddressFlags.failed == 0
    }
  }

  /// What the kernel says of a route.
  struct NetworkRoute: Hashable, Sendable {
    var family: UInt8
    var prefixLength: Int
    var table: UInt32
    var type: UInt8
    /// The links that it leads through.
    var links: [Int]
    /// The address that is sent from; nil when there is none.
    var source: [UInt8]?

    var isDefault: Bool {
      self.prefixLength == 0 && self.table == Netlink.mainTable && self.type == Netlink.unicastRoute
    }
  }

  /// What the kernel said at one time.
  struct NetworkFacts: Hashable, Sendable {
    var links: [NetworkLink] = []
    var addresses: [NetworkAddress] = []
    /// Default routes.
    var routes: [NetworkRoute] = []
    /// The routes that the kernel would take to where the observer wants to go.
    var lookups: [NetworkRoute] = []
  }
#endif
