#if os(Linux)
  internal import OperationEventLoop

  /// Sends requests to the kernel and receives the answers.
  protocol NetlinkChannel: Sendable {
    func send(_ bytes: [UInt8]) throws(SystemFailure)

    /// Waits for a datagram, for at most a second.
    func receive(capacity: Int) throws(SystemFailure) -> NetlinkDatagram
  }

  /// A datagram that was received.
  struct NetlinkDatagram: Hashable, Sendable {
    var bytes: [UInt8]
    /// The length of the datagram; greater than the number of bytes if it was truncated.
    var length: Int
    /// The sender's port; 0 is the kernel.
    var sender: UInt32
  }

  /// Signals that the network has changed. It does not say how: messages may be lost, and some changes send none.
  protocol NetworkChangeFeed: Sendable {
    /// Readable when something has changed.
    var descriptor: CInt { get }

    /// Discards all pending messages, and returns whether there were any; a failure counts as one.
    func drain() -> Bool
  }

  /// The functions that open the sources of the network state.
  struct NetworkSystem: Sendable {
    var openFeed: @Sendable () throws(SystemFailure) -> any NetworkChangeFeed
    var openChannel: @Sendable () throws(SystemFailure) -> any NetlinkChannel
    /// Returns whether the kernel has a route, without sending anything.
    var probe: @Sendable (NetworkDestination) throws(SystemFailure) -> Bool

    /// This machine, in the network namespace of the thread that opens a source.
    static let current = NetworkSystem(
      openFeed: { () throws(SystemFailure) in try NetlinkSocket(groups: Netlink.changeGroups) },
      openChannel: { () throws(SystemFailure) in try NetlinkSocket(groups: 0) },
      probe: { destination throws(SystemFailure) in try DatagramProbe.hasRoute(to: destination) }
    )
  }
#endif
