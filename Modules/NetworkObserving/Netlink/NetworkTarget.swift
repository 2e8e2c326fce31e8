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

    var needsDefaultRoutes: Bool { self.kind == .defaultRoute }
  }

  extension NetworkTarget {
    /// The status for a reading; connected if nothing could be read, so that no work waits for it.
    func status(_ reading: NetworkReading) -> NetworkConnectionStatus {
      switch reading {
      case .snapshot(let snapshot, _): self.status(snapshot)
      case .route(let exists): exists ? .connected : .disconnected
      case .nothing: .connected
      }
    }

    private func status(_ snapshot: NetworkSnapshot) -> NetworkConnectionStatus {
      var snapshot = snapshot
      if let isExcluded { snapshot.links.removeAll { isExcluded($0) } }
      if case .interface(let name) = self.kind { return snapshot.status(ofLink: name) }
      // The port of a bridge or a bond does not count by itself.
      let running = snapshot.links.filter { $0.isRunning && !$0.isLoopback && $0.master == nil }
      let isConnected =
        switch self.kind {
        case .defaultRoute:
          running.contains { snapshot.hasDefaultRoute(through: $0) }
            || snapshot.lookups.contains(where: snapshot.leadsToOtherHosts)
        case .address: running.contains { !$0.isUsuallyInternal && snapshot.hasAddress($0) }
        case .route(let destination):
          snapshot.lookups.contains { route in
            let isLinkLocal = Netlink.isLinkLocal(destination.bytes)
            if route.type == Netlink.localRoute { return true }
            return isLinkLocal ? snapshot.leadsToNeighbour(route) : snapshot.leadsToOtherHosts(route)
          }
        case .interface: false
        }
      if isConnected { return .connected }
      return running.isEmpty ? .disconnected : .requiresConnection
    }
  }

  extension NetworkSnapshot {
    /// Whether a route leads to other hosts through a running link, from an address that they can answer to.
    func leadsToOtherHosts(_ route: NetworkRoute) -> Bool {
      guard route.type == Netlink.unicastRoute, let source = route.source, self.isUsable(source) else { return false }
      return self.isRunning(route)
    }

    /// Whether a route leads to a host on the same link, which can answer to any source address.
    func leadsToNeighbour(_ route: NetworkRoute) -> Bool {
      route.type == Netlink.unicastRoute && route.source != nil && self.isRunning(route)
    }

    private func isRunning(_ route: NetworkRoute) -> Bool {
      self.links.contains { $0.isRunning && !$0.isLoopback && route.links.contains($0.index) }
    }

    private func isUsable(_ source: [UInt8]) -> Bool {
      guard !Netlink.isLinkLocal(source) else { return false }
      // The source address may belong to the host, but to none of its links.
      let known = self.addresses.filter { $0.bytes == source }
      return known.isEmpty || known.contains(where: \.isUsable)
    }

    fileprivate func hasAddress(_ link: NetworkLink) -> Bool {
      self.addresses.contains { $0.link == link.index && $0.isUsable }
    }

    fileprivate func hasDefaultRoute(through link: NetworkLink) -> Bool {
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
    /// Whether the link has a typical name of links to containers and virtual machines, which lead to no other host.
    fileprivate var isUsuallyInternal: Bool {
      let prefixes = ["docker", "br-", "virbr", "veth", "cni", "flannel", "cali", "lxc"]
      return prefixes.contains { self.name.hasPrefix($0) }
    }
  }
#endif
