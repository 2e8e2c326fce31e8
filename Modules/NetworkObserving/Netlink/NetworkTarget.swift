#if os(Linux)
  internal import OperationCore

  /// The requirement for the status `connected`, with the interfaces to ignore.
  struct NetworkTarget: Sendable {
    enum Kind: Hashable, Sendable {
      case defaultRoute
      case address
      case interface(String)
      case route(NetworkDestination)
    }

    var kind: Kind
    var isExcluded: (@Sendable (NetworkLink) -> Bool)?

    /// The addresses to look up routes to.
    var destinations: [NetworkDestination] {
      switch self.kind {
      case .defaultRoute: NetworkDestination.anywhere
      case .route(let destination): [destination]
      case .address, .interface: []
      }
    }

    var wantsDefaultRoutes: Bool { self.kind == .defaultRoute }
  }

  extension NetworkTarget {
    /// The status for a reading; connected if nothing could be read, so that no work is held up.
    func status(_ reading: NetworkReading) -> NetworkConnectionStatus {
      switch reading {
      case .facts(let facts, _): self.status(facts)
      case .way(let isThere): isThere ? .connected : .disconnected
      case .nothing: .connected
      }
    }

    private func status(_ facts: NetworkFacts) -> NetworkConnectionStatus {
      var facts = facts
      if let isExcluded { facts.links.removeAll { isExcluded($0) } }
      if case .interface(let name) = self.kind { return facts.status(ofLink: name) }
      // The port of a bridge or a bond does not count by itself.
      let running = facts.links.filter { $0.isRunning && !$0.isLoopback && $0.master == nil }
      let isConnected =
        switch self.kind {
        case .defaultRoute:
          running.contains { facts.hasWayOut(through: $0) } || facts.lookups.contains(where: facts.leadsOut)
        case .address: running.contains { !$0.isUsuallyInternal && facts.hasAddress($0) }
        case .route(let destination):
          facts.lookups.contains { route in
            let isLinkLocal = Netlink.isLinkLocal(destination.bytes)
            if route.type == Netlink.localRoute { return true }
            return isLinkLocal ? facts.leadsToNeighbor(route) : facts.leadsOut(route)
          }
        case .interface: false
        }
      if isConnected { return .connected }
      return running.isEmpty ? .disconnected : .requiresConnection
    }
  }

  extension NetworkFacts {
    /// Whether a route leads to other hosts through a running link, from an address that they can answer to.
    func leadsOut(_ route: NetworkRoute) -> Bool {
      guard route.type == Netlink.unicastRoute, let source = route.source, self.isUsable(source) else { return false }
      return self.runs(route)
    }

    /// Whether a route leads to a host on the same link, which can answer to any source address.
    func leadsToNeighbor(_ route: NetworkRoute) -> Bool {
      route.type == Netlink.unicastRoute && route.source != nil && self.runs(route)
    }

    private func runs(_ route: NetworkRoute) -> Bool {
      self.links.contains { $0.isRunning && !$0.isLoopback && route.links.contains($0.index) }
    }

    private func isUsable(_ source: [UInt8]) -> Bool {
      guard !Netlink.isLinkLocal(source) else { return false }
      // A route may name a source address that belongs to the host but to none of its links.
      let known = self.addresses.filter { $0.bytes == source }
      return known.isEmpty || known.contains(where: \.isUsable)
    }

    fileprivate func hasAddress(_ link: NetworkLink) -> Bool {
      self.addresses.contains { $0.link == link.index && $0.isUsable }
    }

    fileprivate func hasWayOut(through link: NetworkLink) -> Bool {
      self.routes.contains { route in
        guard route.isDefault, route.links.contains(link.index) else { return false }
        return self.addresses.contains { $0.link == link.index && $0.family == route.family && $0.isUsable }
      }
    }

    fileprivate func status(ofLink name: String) -> NetworkConnectionStatus {
      guard let link = self.links.first(where: { $0.name == name }), link.isRunning else { return .disconnected }
      let hasAddress = self.addresses.contains { address in
        guard address.link == link.index else { return false }
        return address.isUsable || link.isLoopback && address.scope == Netlink.hostScope
      }
      return hasAddress ? .connected : .requiresConnection
    }
  }

  extension NetworkLink {
    /// Whether the link has a typical name of links for containers and virtual machines, which lead nowhere else.
    fileprivate var isUsuallyInternal: Bool {
      let prefixes = ["docker", "br-", "virbr", "veth", "cni", "flannel", "cali", "lxc"]
      return prefixes.contains { self.name.hasPrefix($0) }
    }
  }
#endif
