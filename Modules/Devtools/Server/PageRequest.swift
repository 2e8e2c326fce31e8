#if SwiftOperationDevtools
  /// A request to the page's server.
  struct PageRequest: Hashable, Sendable {
    var method: String
    /// The path of the address, as it was sent.
    var path: String
    /// The values of the parameters of the address, as they were sent. Of several with one name the first counts.
    var query: [String: String] = [:]
    /// The values of the fields, by names in lower case. Fields of one name have one value, with commas between.
    var fields: [String: String] = [:]
    var body = ""
  }

  /// Why a request gets no answer: a status, and a sentence for a person.
  struct PageRefusal: Error, Hashable, Sendable {
    let status: Int
    let reason: String

    init(_ status: Int, _ reason: String) {
      self.status = status
      self.reason = reason
    }
  }

  /// Reads one request of HTTP/1.1 from the bytes of a connection, in bounded space and in a time that grows with the bytes alone.
  struct RequestReader: Sendable {
    /// The largest number of bytes of the request line and the fields together.
    static let headLimit = 8 << 10
    /// The largest number of bytes of a body.
    static let bodyLimit = 1 << 20

    private enum Phase: Sendable {
      case head([UInt8])
      case body(PageRequest, [UInt8], count: Int)
    }

    private var phase = Phase.head([])

    /// Adds bytes.
    ///
    /// - Parameters:
    ///   - bytes: What has arrived.
    ///   - admit: Throws if the request is to be refused. It is asked once, before the body is read.
    /// - Returns: The request, once it is complete; nil until then.
    /// - Throws: Why the request is refused. Nothing is to be added then.
    mutating func add(
      _ bytes: some Collection<UInt8>,
      admit: (PageRequest) throws(PageRefusal) -> Void = { _ in }
    ) throws(PageRefusal) -> PageRequest? {
      switch self.phase {
      case .head(var head):
        // Released, so that adding does not copy what is there.
        self.phase = .head([])
        let known = head.count
        head += bytes
        guard let end = Self.end(of: head, from: known) else {
          self.phase = .head(head)
          guard head.count < Self.headLimit else { throw .longHead }
          return nil
        }
        guard end.upperBound <= Self.headLimit else { throw .longHead }
        let request = try PageRequest(head: head[..<end.lowerBound])
        let count = try request.bodyCount
        try admit(request)
        self.phase = .body(request, [], count: count)
        return self.addToBody(head[end.upperBound...])
      case .body: return self.addToBody(bytes)
      }
    }

    private mutating func addToBody(_ bytes: some Collection<UInt8>) -> PageRequest? {
      guard case .body(var request, var body, let count) = self.phase else { return nil }
      self.phase = .head([])
      // What comes after the body is no part of it: a connection has one request.
      body += bytes.prefix(count - body.count)
      if body.count < count {
        self.phase = .body(request, body, count: count)
        return nil
      }
      request.body = String(decoding: body, as: UTF8.self)
      return request
    }

    /// Where the empty line is. Bytes that were searched before are not searched again.
    private static func end(of head: [UInt8], from known: Int) -> Range<Int>? {
      head[max(known - 3, 0)...].firstRange(of: [13, 10, 13, 10])
    }
  }

  extension PageRequest {
    /// Reads the request line and the fields, without the empty line behind them.
    init(head: ArraySlice<UInt8>) throws(PageRefusal) {
      let lines = String(decoding: head, as: UTF8.self).utf8.split(separator: 13, omittingEmptySubsequences: false)
      // Each line but the first begins with the second half of the separator; another control character may be part of an attack.
      guard let first = lines.first, Self.isText(first) else { throw .wrongLine }
      try self.init(line: first)
      for line in lines.dropFirst() {
        guard line.first == 10, Self.isText(line.dropFirst()) else { throw .wrongField }
        try self.add(line.dropFirst())
      }
    }

    private init(line: Substring.UTF8View) throws(PageRefusal) {
      let words = String(Substring(line)).split(separator: " ", omittingEmptySubsequences: false).map(String.init)
      guard words.count == 3, !words[0].isEmpty, words[1].hasPrefix("/"), words[2].hasPrefix("HTTP/") else {
        throw .wrongLine
      }
      guard words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0" else {
        throw PageRefusal(505, "The version of HTTP is neither 1.1 nor 1.0.")
      }
      let parts = words[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
      self.init(method: words[0], path: String(parts[0]))
      for item in (parts.count > 1 ? parts[1] : "").split(separator: "&") {
        let pair = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(pair[0])
        if self.query[name] == nil { self.query[name] = pair.count > 1 ? String(pair[1]) : "" }
      }
    }

    private mutating func add(_ line: Substring.UTF8View) throws(PageRefusal) {
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { throw .wrongField }
      let name = line[..<colon]
      // No space belongs into a name: a line that begins with one would continue the one before.
      guard !name.isEmpty, name.allSatisfy({ $0 > 0x20 }) else { throw .wrongField }
      let key = String(Substring(name)).lowercased()
      let value = String(Substring(line[line.index(after: colon)...])).trimmedOfSpaces
      self.fields[key] = self.fields[key].map { "\($0), \(value)" } ?? value
    }

    private static func isText(_ line: some Sequence<UInt8>) -> Bool {
      line.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }

    /// The number of bytes of the body.
    fileprivate var bodyCount: Int {
      get throws(PageRefusal) {
        if self.fields["transfer-encoding"] != nil {
          throw PageRefusal(411, "A body needs its length: no transfer encoding is read.")
        }
        guard let text = self.fields["content-length"] else { return 0 }
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { throw .wrongField }
        guard let count = Int(text), count <= RequestReader.bodyLimit else {
          throw PageRefusal(413, "The body is too long.")
        }
        return count
      }
    }
  }

  extension PageRefusal {
    fileprivate static let longHead = PageRefusal(431, "The request line and the fields are too long.")
    fileprivate static let wrongLine = PageRefusal(400, "The request line is wrong.")
    fileprivate static let wrongField = PageRefusal(400, "A field is wrong.")
  }

  extension String {
    fileprivate var trimmedOfSpaces: String {
      let start = self.drop { $0 == " " || $0 == "\t" }
      return String(start.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
  }
#endif
