#if os(Linux)
  internal import OperationEventLoop
  internal import Synchronization

  /// The result of reading the network once.
  enum NetworkReading: Hashable, Sendable {
    case facts(NetworkFacts, isUncertain: Bool)
    /// Whether the kernel has a route.
    case way(Bool)
    /// The system permits no method of reading.
    case nothing
  }

  /// Reads the network with the best method that the system permits.
  ///
  /// The methods are, in this order: netlink requests with notifications of changes; netlink requests alone; connecting
  /// datagram sockets to check for a route; none.
  final class NetworkReader: Sendable {
    enum Means: Sendable {
      case questions(any NetworkChangeFeed)
      case questionsAlone
      case probes
      /// No method works; contains the reason.
      case none(SystemFailure?)
    }

    let means: Means
    private let system: NetworkSystem
    private let target: NetworkTarget
    private let inquiry: Mutex<NetlinkInquiry?>

    private init(_ means: Means, _ system: NetworkSystem, _ target: NetworkTarget, _ inquiry: consuming NetlinkInquiry?)
    {
      self.means = means
      self.system = system
      self.target = target
      self.inquiry = Mutex(inquiry)
    }

    /// The notifications of changes; nil if the network must be read at intervals.
    var feed: (any NetworkChangeFeed)? {
      if case .questions(let feed) = self.means { feed } else { nil }
    }

    /// How often to start over without notifications: a method that failed for lack of descriptors, for example, may
    /// work later.
    var interval: Duration? {
      switch self.means {
      case .questions: nil
      case .questionsAlone: .seconds(5)
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
      let means = feed.map { Means.questions($0) } ?? .questionsAlone
      var failure: SystemFailure?
      do throws(SystemFailure) {
        let inquiry = try NetlinkInquiry(openChannel: system.openChannel)
        let reader = NetworkReader(means, system, target, inquiry)
        return (reader, try reader.read())
      } catch {
        failure = error
      }
      let reader = NetworkReader(.probes, system, target, nil)
      do throws(SystemFailure) {
        let reading = try reader.read()
        if reading != .nothing { return (reader, reading) }
      } catch {
        failure = error
      }
      return (NetworkReader(.none(failure), system, target, nil), .nothing)
    }
  }

  // MARK: - Reading

  extension NetworkReader {
    func read() throws(SystemFailure) -> NetworkReading {
      switch self.means {
      case .questions, .questionsAlone: try self.ask()
      case .probes: try self.probe()
      case .none: .nothing
      }
    }

    private func ask() throws(SystemFailure) -> NetworkReading {
      let result: Result<NetworkReading, SystemFailure> = self.inquiry.withLock { inquiry in
        Result { () throws(SystemFailure) -> NetworkReading in
          guard var asking = inquiry else { return .nothing }
          defer { inquiry = asking }
          return try NetworkReading.asking(&asking, for: self.target)
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
          if try self.system.probe(destination) { return .way(true) }
          isKnown = true
        } catch {
          failure = error
        }
      }
      if let failure, !isKnown { throw failure }
      return .way(false)
    }
  }

  extension NetworkReading {
    fileprivate static func asking(
      _ inquiry: inout NetlinkInquiry,
      for target: NetworkTarget
    ) throws(SystemFailure) -> NetworkReading {
      var facts = NetworkFacts()
      let links = try inquiry.ask(.links) { NetworkLink($0) }
      guard links.refusal == 0 else { throw SystemFailure(call: "RTM_GETLINK", code: links.refusal) }
      let addresses = try inquiry.ask(.addresses) { NetworkAddress($0) }
      guard addresses.refusal == 0 else { throw SystemFailure(call: "RTM_GETADDR", code: addresses.refusal) }
      var isUncertain = links.isUncertain || addresses.isUncertain
      (facts.links, facts.addresses) = (links.items, addresses.items)
      for destination in target.destinations {
        // A refusal means that there is no route.
        facts.lookups += try inquiry.ask(.route(to: destination)) { NetworkRoute($0) }.items
      }
      // The routing table may be long, so it is read only if the lookups do not settle the status.
      let isSettled = target.isExcluded == nil && facts.lookups.contains(where: facts.leadsOut)
      guard target.wantsDefaultRoutes, !isSettled else { return .facts(facts, isUncertain: isUncertain) }
      // A family that the kernel does not support, or a table that does not exist yet, has no routes.
      for family in [Netlink.ipv4, Netlink.ipv6] {
        let routes = try inquiry.ask(.routes(family: family)) { payload in
          NetworkRoute(payload).flatMap { $0.isDefault ? $0 : nil }
        }
        facts.routes += routes.items
        isUncertain = isUncertain || routes.isUncertain
      }
      return .facts(facts, isUncertain: isUncertain)
    }
  }
#endif
