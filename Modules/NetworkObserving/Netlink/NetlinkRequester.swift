#if os(Linux)
  internal import OperationEventLoop
  internal import OperationPlatform

  /// The answer to a request.
  struct NetlinkAnswer<Item> {
    var items: [Item] = []
    /// Whether the network changed during the answer, so that the items may be inconsistent.
    var isUncertain = false
    /// The error code if the kernel has refused the request, otherwise 0.
    var refusal: CInt = 0
  }

  /// Sends requests over one channel, one after the other.
  ///
  /// Only messages that the kernel sends in answer to the current request count. An answer that is interrupted by a
  /// change, truncated or lost is requested again. A channel is used until an answer is incomplete: the channel may
  /// then contain the rest of that answer, and is replaced.
  struct NetlinkRequester {
    private static let maximumAttempts = 5
    private static let maximumForeignDatagrams = 1000

    private let openChannel: @Sendable () throws(SystemFailure) -> any NetlinkChannel
    private var channel: (any NetlinkChannel)?
    private var capacity: Int
    private var sequence: UInt32 = 0

    init(
      capacity: Int = 32_768,
      openChannel: @escaping @Sendable () throws(SystemFailure) -> any NetlinkChannel
    ) throws(SystemFailure) {
      self.capacity = capacity
      self.openChannel = openChannel
      self.channel = try openChannel()
    }

    /// Sends a request, and parses the payloads of the answer.
    mutating func send<Item>(
      _ request: NetlinkRequest,
      _ read: (ArraySlice<UInt8>) -> Item?
    ) throws(SystemFailure) -> NetlinkAnswer<Item> {
      var answer: NetlinkAnswer<Item>?
      for _ in 0..<Self.maximumAttempts {
        answer = try self.attempt(request, read)
        if let answer, !answer.isUncertain { return answer }
      }
      // An uncertain answer is better than none. A watch reads again later.
      guard let answer else { throw SystemFailure(call: "recvfrom", code: EMSGSIZE) }
      return answer
    }

    /// Returns nil when the answer must be requested again.
    private mutating func attempt<Item>(
      _ request: NetlinkRequest,
      _ read: (ArraySlice<UInt8>) -> Item?
    ) throws(SystemFailure) -> NetlinkAnswer<Item>? {
      let channel = if let channel { channel } else { try self.openChannel() }
      self.channel = nil
      self.sequence &+= 1
      try channel.send(request.bytes(sequence: self.sequence))
      var answer = NetlinkAnswer<Item>()
      var foreignCount = 0
      while foreignCount < Self.maximumForeignDatagrams {
        let datagram = try channel.receive(capacity: self.capacity)
        guard datagram.sender == 0 else {
          foreignCount += 1
          continue
        }
        guard datagram.length <= datagram.bytes.count else {
          self.capacity = max(datagram.length, self.capacity * 2)
          return nil
        }
        let messages = NetlinkMessage.messages(in: datagram.bytes).filter { $0.sequence == self.sequence }
        if messages.isEmpty { foreignCount += 1 }
        for message in messages {
          if message.flags & Netlink.Flags.dumpInterrupted != 0 { answer.isUncertain = true }
          switch message.type {
          case Netlink.MessageType.overrun: return nil
          case Netlink.MessageType.error, Netlink.MessageType.done:
            answer.refusal = message.errorCode ?? EBADMSG
            self.channel = channel
            return answer
          case request.answerType:
            if let item = read(message.payload) { answer.items.append(item) }
            guard !request.isDump else { continue }
            self.channel = channel
            return answer
          default: break
          }
        }
      }
      throw SystemFailure(call: "recvfrom", code: EBADMSG)
    }
  }
#endif
