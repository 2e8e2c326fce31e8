#if os(Linux)
  import Glibc
  import OperationEventLoop
  import Synchronization

  @testable import OperationNetworkObserving

  /// A network that a test changes, and a kernel that answers requests about it.
  final class FakeKernel: Sendable {
    /// Changes the datagrams of an answer.
    typealias Tampering =
      @Sendable (_ attempt: Int, _ sequence: UInt32, _ datagrams: [NetlinkDatagram]) -> [NetlinkDatagram]

    private struct State {
      var snapshot = NetworkSnapshot()
      var feedFailure: SystemFailure?
      var channelFailure: SystemFailure?
      var readFailure: SystemFailure?
      var probe: Result<Bool, SystemFailure> = .success(false)
      var feeds: [WeakFeed] = []
      var openChannels = 0
      var channelCount = 0
      var requestCount = 0
      var probeCount = 0
      var tampering: Tampering?
    }

    private let state = Mutex(State())

    init(_ snapshot: NetworkSnapshot = NetworkSnapshot()) {
      self.state.withLock { $0.snapshot = snapshot }
    }

    /// The numbers of requests and of probes so far.
    var requestCount: Int { self.state.withLock { $0.requestCount } }
    var probeCount: Int { self.state.withLock { $0.probeCount } }
    /// The numbers of channels that have been opened, and that are open.
    var channelCount: Int { self.state.withLock { $0.channelCount } }
    var openChannelCount: Int { self.state.withLock { $0.openChannels } }
    var openFeedCount: Int { self.state.withLock { $0.feeds.count { $0.feed != nil } } }

    var system: NetworkSystem {
      NetworkSystem(
        openFeed: { () throws(SystemFailure) in try self.openFeed() },
        openChannel: { () throws(SystemFailure) in try self.openChannel() },
        probe: { _ throws(SystemFailure) in
          try self.state.withLock { state in
            state.probeCount += 1
            return state.probe
          }.get()
        }
      )
    }

    func refuse(feed: CInt? = nil, channel: CInt? = nil, read: CInt? = nil) {
      self.state.withLock { state in
        state.feedFailure = feed.map { SystemFailure(call: "bind", code: $0) }
        state.channelFailure = channel.map { SystemFailure(call: "socket", code: $0) }
        state.readFailure = read.map { SystemFailure(call: "recvfrom", code: $0) }
      }
    }

    func answerProbes(with result: Result<Bool, SystemFailure>) {
      self.state.withLock { $0.probe = result }
    }

    func tamper(_ tampering: Tampering?) {
      self.state.withLock { $0.tampering = tampering }
    }

    /// Changes the network, and notifies the feeds unless it is silent.
    func change(silently: Bool = false, _ body: (inout NetworkSnapshot) -> Void) {
      self.state.withLock { body(&$0.snapshot) }
      if !silently { self.notify() }
    }

    /// Notifies the feeds of a change.
    func notify() {
      for feed in self.state.withLock({ $0.feeds.compactMap(\.feed) }) { feed.send() }
    }

    private func openFeed() throws(SystemFailure) -> PipeFeed {
      let feed = PipeFeed()
      let failure = self.state.withLock { state in
        if state.feedFailure == nil { state.feeds.append(WeakFeed(feed: feed)) }
        return state.feedFailure
      }
      if let failure { throw failure }
      return feed
    }

    private func openChannel() throws(SystemFailure) -> FakeChannel {
      let failure = self.state.withLock { state in
        guard state.channelFailure == nil else { return state.channelFailure }
        state.openChannels += 1
        state.channelCount += 1
        return nil
      }
      if let failure { throw failure }
      return FakeChannel(kernel: self)
    }

    fileprivate func closeChannel() {
      self.state.withLock { $0.openChannels -= 1 }
    }

    fileprivate func answer(_ request: [UInt8]) throws(SystemFailure) -> [NetlinkDatagram] {
      let (snapshot, attempt, tampering, failure) = self.state.withLock { state in
        state.requestCount += 1
        return (state.snapshot, state.requestCount, state.tampering, state.readFailure)
      }
      if let failure { throw failure }
      guard let message = NetlinkMessage.messages(in: request).first else { return [] }
      let sequence = message.sequence
      let payloads: [[UInt8]]
      var type = Netlink.MessageType.newRoute
      switch message.type {
      case Netlink.MessageType.getLink: (type, payloads) = (Netlink.MessageType.newLink, snapshot.links.map(\.payload))
      case Netlink.MessageType.getAddress:
        (type, payloads) = (Netlink.MessageType.newAddress, snapshot.addresses.map(\.payload))
      case _ where message.flags & Netlink.Flags.dump != 0:
        payloads = snapshot.routes.filter { $0.family == message.payload.first }.map(\.payload)
      default: payloads = snapshot.lookups.filter { $0.family == message.payload.first }.prefix(1).map(\.payload)
      }
      var datagrams = payloads.map { MessageWriter.message(type, $0, sequence: sequence) }
      if message.flags & Netlink.Flags.dump != 0 {
        datagrams.append(MessageWriter.end(sequence: sequence))
      } else if datagrams.isEmpty {
        datagrams = [MessageWriter.refusal(ENETUNREACH, sequence: sequence)]
      }
      let whole = datagrams.map { NetlinkDatagram(bytes: $0, length: $0.count, sender: 0) }
      return tampering?(attempt, sequence, whole) ?? whole
    }
  }

  private struct WeakFeed {
    weak var feed: PipeFeed?
  }

  private final class FakeChannel: NetlinkChannel {
    private let kernel: FakeKernel
    private let datagrams = Mutex<[NetlinkDatagram]>([])

    init(kernel: FakeKernel) {
      self.kernel = kernel
    }

    deinit {
      self.kernel.closeChannel()
    }

    func send(_ bytes: [UInt8]) throws(SystemFailure) {
      let answer = try self.kernel.answer(bytes)
      self.datagrams.withLock { $0 += answer }
    }

    func receive(capacity: Int) throws(SystemFailure) -> NetlinkDatagram {
      let next: NetlinkDatagram? = self.datagrams.withLock { $0.isEmpty ? nil : $0.removeFirst() }
      // The kernel sends nothing until the timeout.
      guard let next else { throw SystemFailure(call: "recvfrom", code: EAGAIN) }
      return NetlinkDatagram(bytes: Array(next.bytes.prefix(capacity)), length: next.length, sender: next.sender)
    }
  }

  /// A feed whose notifications come from a test.
  private final class PipeFeed: NetworkChangeFeed {
    let descriptor: CInt
    private let writer: CInt

    init() {
      var ends: [CInt] = [-1, -1]
      precondition(pipe(&ends) == 0, "no pipe: \(errno)")
      _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
      (self.descriptor, self.writer) = (ends[0], ends[1])
    }

    deinit {
      close(self.descriptor)
      close(self.writer)
    }

    func send() {
      var byte: UInt8 = 1
      _ = write(self.writer, &byte, 1)
    }

    func drain() -> Bool {
      var bytes = [UInt8](repeating: 0, count: 64)
      var hasChanged = false
      while read(self.descriptor, &bytes, bytes.count) > 0 { hasChanged = true }
      return hasChanged
    }
  }

  extension NetworkSnapshot {
    static let loopback = NetworkLink(index: 1, name: "lo", hardwareType: 772, flags: 0x1_0049)
    static let ethernet = NetworkLink(index: 2, name: "eth0", hardwareType: 1, flags: 0x1_1043)
    static let ethernetAddress = NetworkAddress(link: 2, family: 2, scope: 0, flags: 0x80, bytes: [10, 0, 0, 1])
    static let defaultRoute = NetworkRoute(
      family: 2,
      prefixLength: 0,
      table: 254,
      type: 1,
      links: [2],
      source: nil
    )

    /// A machine without a network.
    static let alone = NetworkSnapshot(links: [loopback])

    /// A machine with a cable.
    static let plugged = NetworkSnapshot(links: [loopback, ethernet])

    /// A machine with a cable, an address and a default route.
    static let online = NetworkSnapshot(
      links: [loopback, ethernet],
      addresses: [ethernetAddress],
      routes: [defaultRoute]
    )
  }
#endif
