#if os(Linux)
  /// Asks the kernel and gets its answers.
  protocol NetlinkChannel: Sendable {
    func send(_ bytes: [UInt8]) throws(SystemFailure)

    /// Waits for a datagram, a second at most.
    func receive(capacity: Int) throws(SystemFailure) -> NetlinkDatagram
  }

  /// What came in at once.
  struct NetlinkDatagram: Hashable, Sendable {
    var bytes: [UInt8]
    /// How long it was; more than there are bytes when there was no room for all.
    var length: Int
    /// Who sent it; the kernel is 0.
    var sender: UInt32
  }

  /// Tells that something has changed. What it was is not to be relied on: much is lost or never said.
  protocol NetworkChangeFeed: Sendable {
    /// Readable when something has changed.
    var descriptor: CInt { get }

    /// Throws away what has come, and says whether anything has, a failure included.
    func drain() -> Bool
  }

  /// What the machine has to offer to somebody who wants to know about its network.
  struct NetworkSystem: Sendable {
    var openFeed: @Sendable () throws(SystemFailure) -> any NetworkChangeFeed
    var openChannel: @Sendable () throws(SystemFailure) -> any NetlinkChannel
    /// Says whether the kernel knows a way, without sending anything.
    var probe: @Sendable (NetworkDestination) throws(SystemFailure) -> Bool

    /// This machine, seen from the network namespace of the thread that opens something.
    static let current = NetworkSystem(
      openFeed: { () throws(SystemFailure) in try NetlinkSocket(groups: Netlink.changeGroups) },
      openChannel: { () throws(SystemFailure) in try NetlinkSocket(groups: 0) },
      probe: { destination throws(SystemFailure) in try DatagramProbe.hasWay(to: destination) }
    )
  }
#endif
