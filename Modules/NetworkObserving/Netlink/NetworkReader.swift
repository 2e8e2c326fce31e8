#if os(Linux)
  internal import OperationEventLoop
  internal import Synchronization

  /// The result of reading the network once.
  enum NetworkReading: Hashable, Sendable {
    case snapshot(NetworkSnapshot, isUncertain: Bool)
    /// Whether the kernel has a route.
    case route(Bool)
    /// The system permits no method of reading.
    case nothing
  }

  /// Reads the network with the best method that the system permits.
  ///
  /// The methods are, best first: netlink requests with notifications of changes, netlink requests without them,
  /// connecting datagram sockets to check for a route, and none.
  final class NetworkReader: Sendable {
    enum Method: Sendable {
      /// Requests, with notifications of changes.
      case requests(any NetworkChangeFeed)
      case requestsOnly
      case probes
      /// No method works; contains the reason.
      case none(SystemFailure?)
    }

    let method: Method
    private let system: NetworkSystem
    private let target: NetworkTarget
    private let requester: Mutex<NetlinkRequester?>

    private init(
      _ method: Method,
      _ system: NetworkSystem,
      _ target: NetworkTarget,
      _ requester: consuming NetlinkRequester? = nil
    ) {
      self.method = method
      self.system = system
      self.target = target
      self.requester = Mutex(requester)
    }

    /// The notifications of changes; nil if the network must be read at intervals.
    var feed: (any NetworkChangeFeed)? {
      if case .requests(let feed) = self.method { feed } else { nil }
    }

    /// How often to start over with the best method; nil with notifications.
    ///
    /// A better method may work later, for example when it failed because descriptors had run out.
    var interval: Duration? {
      switch self.method {
      case .requests: nil
      case .requestsOnly: .seconds(5)
      case .probes: .seconds(10)
      case .none(let failure): failure?.isShortage ?? false ? .seconds(1) : .seconds(60)
      }
    }
  }

  // MARK: - Opening

  extension NetworkReader {
    /// Finds the best method, and reads for the first time.
    static func open(_ system: NetworkSystem, for target: NetworkTarget) -> (NetworkReader, NetworkReading) {
      // The feed is opened before the first request, so that no change is missed in between.
      let feed = try? system.openFeed()
      let method = feed.map { Method.requests($0) } ?? .requestsOnly
      var failure: SystemFailure?
      do throws(SystemFailure) {
        let requester = try NetlinkRequester(openChannel: system.openChannel)
        let reader = NetworkReader(method, system, target, requester)
        return (reader, try reader.read())
      } catch {
        failure = error
      }
      let reader = NetworkReader(.probes, system, target)
      do throws(SystemFailure) {
        let reading = try reader.read()
        if reading != .nothing { return (reader, reading) }
      } catch {
        failure = error
      }
      return (NetworkReader(.none(failure), system, target), .nothing)
    }
  }

  // MARK: - Reading

  extension NetworkReader {
    func read() throws(SystemFailure) -> NetworkReading {
      switch self.method {
      case .requests, .requestsOnly: try self.request()
      case .probes: try self.probe()
      case .none: .nothing
      }
    }

    private func request() throws(SystemFailure) -> NetworkReading {
      let result: Result<NetworkReading, SystemFailure> = self.requester.withLock { requester in
        Result { () throws(SystemFailure) -> NetworkReading in
          guard var current = requester else { return .nothing }
          defer { requester = current }
          return try NetworkReading.requested(from: &current, for: self.target)
        }
      }
      return try result.get()
    }

    private func probe() throws(SystemFailure) -> NetworkReading {
      guard !self.target.destinations.isEmpty else { return .nothing }
      var failure: SystemFailure?
      var isKnown = false
      for destination in self.target.destinations {
        do {
          if try self.system.probe(destination) { return .route(true) }
          isKnown = true
        } catch {
          failure = error
        }
      }
      if let failure, !isKnown { throw failure }
      return .route(false)
    }
  }

  extension NetworkReading {
    fileprivate static func requested(
      from requester: inout NetlinkRequester,
      for target: NetworkTarget
    ) throws(SystemFailure) -> NetworkReading {
      var snapshot = NetworkSnapshot()
      let links = try requester.send(.links) { NetworkLink($0) }
      guard links.refusal == 0 else { throw SystemFailure(call: "RTM_GETLINK", code: links.refusal) }
      let addresses = try requester.send(.addresses) { NetworkAddress($0) }
      guard addresses.refusal == 0 else { throw SystemFailure(call: "RTM_GETADDR", code: addresses.refusal) }
      var isUncertain = links.isUncertain || addresses.isUncertain
      (snapshot.links, snapshot.addresses) = (links.items, addresses.items)
      for destination in target.destinations {
        // A refusal means that there is no route.
        snapshot.lookups += try requester.send(.route(to: destination)) { NetworkRoute($0) }.items
      }
      // The routing table may be long, so it is read only if the lookups do not settle the status.
      let isSettled = target.isExcluded == nil && snapshot.lookups.contains(where: snapshot.leadsToOtherHosts)
      guard target.needsDefaultRoutes, !isSettled else { return .snapshot(snapshot, isUncertain: isUncertain) }
      // A family that the kernel does not support, or a table that does not exist yet, has no routes.
      for family in [Netlink.ipv4, Netlink.ipv6] {
        let routes = try requester.send(.routes(family: family)) { payload in
          NetworkRoute(payload).flatMap { $0.isDefault ? $0 : nil }
        }
        snapshot.routes += routes.items
        isUncertain = isUncertain || routes.isUncertain
      }
      return .snapshot(snapshot, isUncertain: isUncertain)
    }
  }
#endif
