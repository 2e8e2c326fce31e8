#if SwiftOperationValkey
  /// What a server has sent is not its protocol, or more than is accepted.
  struct ReplyError: Error, Hashable {
    let reason: String
  }

  /// Reads replies from bytes that arrive in pieces of any size, each byte once.
  ///
  /// It allocates for what has arrived, never for what a length announces, and a reply that exceeds a limit is an error as
  /// soon as its head says so: a damaged one costs no more memory than has been sent.
  struct ReplyReader: Sendable {
    struct Limits: Sendable {
      /// The longest line, with the text of an error or of a number.
      var line = 65_536
      /// The longest string: what a server accepts itself, by default.
      var string = 512 << 20
      /// The most bytes of all strings of a reply.
      var bytes = 512 << 20
      /// The most elements of a reply, those of its arrays included.
      var elements = 1_000_000
      /// How deep arrays may be inside of each other.
      var depth = 8
    }

    /// An array whose elements have not all arrived.
    private struct Frame: Sendable {
      enum Kind: Sendable {
        case array
        case push
        /// What a server may say about the next reply, which is dropped.
        case attribute
      }

      let kind: Kind
      var missing: Int
      var elements: [Reply] = []

      var reply: Reply? {
        switch self.kind {
        case .array: .array(self.elements)
        case .push: .push(self.elements)
        case .attribute: nil
        }
      }
    }

    private enum Item {
      case reply(Reply)
      case frame(Frame)
    }

    /// A string whose length has been read.
    private struct PendingString: Sendable {
      let length: Int
      let isError: Bool
    }

    private let limits: Limits
    private var buffer: [UInt8] = []
    /// The first byte that was not read.
    private var start = 0
    /// Where the search for the end of a line goes on.
    private var searched = 0
    private var string: PendingString?
    private var frames: [Frame] = []
    private var elementCount = 0
    private var byteCount = 0

    init(limits: Limits = Limits()) {
      self.limits = limits
    }

    /// The number of bytes that are kept.
    var bufferedCount: Int { self.buffer.count }

    mutating func append(_ bytes: some Collection<UInt8>) {
      self.buffer += bytes
    }

    /// Reads the next reply.
    ///
    /// - Returns: The reply; nil if it has not arrived as a whole.
    /// - Throws: A ``ReplyError``, after which nothing can be read.
    mutating func next() throws(ReplyError) -> Reply? {
      while let item = try self.nextItem() {
        switch item {
        case .frame(let frame) where frame.missing > 0: self.frames.append(frame)
        case .frame(let frame): if let reply = self.end(with: frame.reply) { return reply }
        case .reply(let reply): if let reply = self.end(with: reply) { return reply }
        }
      }
      self.forgetReadBytes()
      return nil
    }

    /// Adds a reply to the array that it belongs to. Returns it, or that array, if it is a whole one.
    private mutating func end(with reply: Reply?) -> Reply? {
      var reply = reply
      while let last = self.frames.indices.last {
        if let reply {
          self.frames[last].elements.append(reply)
          self.frames[last].missing -= 1
        }
        if self.frames[last].missing > 0 { return nil }
        reply = self.frames.removeLast().reply
      }
      if reply != nil { (self.elementCount, self.byteCount) = (0, 0) }
      return reply
    }

    private mutating func nextItem() throws(ReplyError) -> Item? {
      if let string { return try self.read(string).map { .reply($0) } }
      guard let line = try self.nextLine() else { return nil }
      self.elementCount += 1
      if self.elementCount > self.limits.elements {
        throw ReplyError(reason: "a reply of more than \(self.limits.elements) elements")
      }
      guard let kind = line.first else { throw ReplyError(reason: "an empty line") }
      let rest = line.dropFirst()
      switch kind {
      case UInt8(ascii: "+"), UInt8(ascii: ","), UInt8(ascii: "("): return .reply(.bytes(Array(rest)))
      case UInt8(ascii: "-"): return .reply(.error(String(decoding: rest, as: UTF8.self)))
      case UInt8(ascii: ":"): return .reply(.integer(try Self.number(rest)))
      case UInt8(ascii: "#"): return .reply(.integer(rest.first == UInt8(ascii: "t") ? 1 : 0))
      case UInt8(ascii: "_"): return .reply(.null)
      case UInt8(ascii: "$"), UInt8(ascii: "="), UInt8(ascii: "!"):
        let length = try Self.number(rest)
        if length == -1 { return .reply(.null) }
        try self.begin(length, isError: kind == UInt8(ascii: "!"))
        return try self.nextItem()
      case UInt8(ascii: "*"), UInt8(ascii: "~"): return try self.frame(.array, try Self.number(rest))
      case UInt8(ascii: ">"): return try self.frame(.push, try Self.number(rest))
      case UInt8(ascii: "%"): return try self.frame(.array, try Self.number(rest), pairs: true)
      case UInt8(ascii: "|"): return try self.frame(.attribute, try Self.number(rest), pairs: true)
      default: throw ReplyError(reason: "a reply that begins with the byte \(kind)")
      }
    }

    private mutating func frame(
      _ kind: Frame.Kind,
      _ count: Int64,
      pairs: Bool = false
    ) throws(ReplyError) -> Item {
      if count == -1 { return .reply(.null) }
      guard count >= 0, count <= self.limits.elements / (pairs ? 2 : 1) else {
        throw ReplyError(reason: "an array of \(count) elements")
      }
      guard self.frames.count < self.limits.depth else {
        throw ReplyError(reason: "arrays more than \(self.limits.depth) deep")
      }
      return .frame(Frame(kind: kind, missing: Int(count) * (pairs ? 2 : 1)))
    }

    private mutating func begin(_ length: Int64, isError: Bool) throws(ReplyError) {
      guard length >= 0, length <= self.limits.string else {
        throw ReplyError(reason: "a string of \(length) bytes")
      }
      self.byteCount += Int(length)
      if self.byteCount > self.limits.bytes {
        throw ReplyError(reason: "a reply of more than \(self.limits.bytes) bytes")
      }
      self.string = PendingString(length: Int(length), isError: isError)
    }

    private mutating func read(_ string: PendingString) throws(ReplyError) -> Reply? {
      let end = self.start + string.length
      guard self.buffer.count >= end + 2 else { return nil }
      guard self.buffer[end..<end + 2].elementsEqual("\r\n".utf8) else {
        throw ReplyError(reason: "a string without its end")
      }
      let bytes = self.buffer[self.start..<end]
      self.start += string.length + 2
      self.searched = self.start
      self.string = nil
      return string.isError ? .error(String(decoding: bytes, as: UTF8.self)) : .bytes(Array(bytes))
    }

    private mutating func nextLine() throws(ReplyError) -> ArraySlice<UInt8>? {
      guard let end = self.buffer[self.searched...].firstIndex(of: UInt8(ascii: "\n")) else {
        self.searched = self.buffer.count
        if self.buffer.count - self.start > self.limits.line { throw self.longLine }
        return nil
      }
      guard end - self.start <= self.limits.line else { throw self.longLine }
      guard end > self.start, self.buffer[end - 1] == UInt8(ascii: "\r") else {
        throw ReplyError(reason: "a line without its end")
      }
      let line = self.buffer[self.start..<end - 1]
      self.start = end + 1
      self.searched = self.start
      return line
    }

    private var longLine: ReplyError { ReplyError(reason: "a line of more than \(self.limits.line) bytes") }

    private static func number(_ digits: ArraySlice<UInt8>) throws(ReplyError) -> Int64 {
      guard digits.count <= 20, let number = Int64(String(decoding: digits, as: UTF8.self)) else {
        throw ReplyError(reason: "a length or a number that is none")
      }
      return number
    }

    private mutating func forgetReadBytes() {
      guard self.start > 0 else { return }
      // What has been read is moved once for each reply that did not arrive as a whole.
      if self.start == self.buffer.count {
        self.buffer.removeAll(keepingCapacity: self.buffer.capacity <= self.limits.line * 4)
      } else {
        self.buffer.removeSubrange(..<self.start)
      }
      self.searched -= self.start
      self.start = 0
    }
  }
#endif
