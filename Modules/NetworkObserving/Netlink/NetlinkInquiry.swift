#if os(Linux)
  #if canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// What comes of a question.
  struct NetlinkAnswer<Item> {
    var items: [Item] = []
    /// Whether the network changed while the answer was being given, so that it may be of two minds.
    var isUncertain = false
    /// Why the kernel says no; 0 when it does not.
    var refusal: CInt = 0
  }

  /// Asks questions over one channel, one after the other.
  ///
  /// Only what the kernel sends in answer to the present question counts. An answer that is interrupted by a change,
  /// cut off or lost is asked for again. A channel serves until an answer does not come to its end: it may then be full of
  /// the rest, and gives way to a new one.
  struct NetlinkInquiry {
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

    /// Asks, and reads the payloads of the answer.
    mutating func ask<Item>(
      _ request: NetlinkRequest,
      _ read: (ArraySlice<UInt8>) -> Item?
    ) throws(SystemFailure) -> NetlinkAnswer<Item> {
      var answer: NetlinkAnswer<Item>?
      for _ in 0..<Self.maximumAttempts {
        answer = try self.attempt(request, read)
        if let answer, !answer.isUncertain { return answer }
      }
      // One of two minds is better than none: whoever asked asks again later.
      guard let answer else { throw SystemFailure(call: "recvfrom", code: EMSGSIZE) }
      return answer
    }

    /// Returns nil when the answer has to be asked for again.
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
