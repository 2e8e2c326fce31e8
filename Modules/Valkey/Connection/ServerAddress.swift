#if SwiftOperationValkey
  /// Where a server is, and as whom and to which of its databases one connects.
  struct ServerAddress: Sendable {
    enum Host: Hashable, Sendable {
      case network(name: String, port: String)
      /// The path of a socket of the local system.
      case local(path: String)
    }

    let hosts: [Host]
    let user: String
    let password: String?
    let database: Int
    let usesTLS: Bool

    /// Reads a connection string.
    ///
    /// - Parameter connection: `redis://`, `valkey://`, with an `s` for TLS, or `unix://`, a user and a password, hosts with
    ///   ports, a database.
    /// - Throws: A ``ValkeyError``, whose message does not contain the string.
    init(_ connection: String) throws(ValkeyError) {
      guard let end = connection.firstRange(of: "://") else { throw .unreadableConnection() }
      let scheme = connection[..<end.lowerBound].lowercased()
      var rest = connection[end.upperBound...]
      let query = rest.firstIndex(of: "?").map { rest[rest.index(after: $0)...] }
      rest = rest.prefix { $0 != "?" }
      // A path of a socket begins with a slash, which a password has to write as %2F, as in any address.
      let authority = rest.prefix { $0 != "/" }
      let path = rest[authority.endIndex...]
      let credentials = authority.lastIndex(of: "@").map { authority[..<$0] }
      let places = credentials.map { authority[authority.index(after: $0.endIndex)...] } ?? authority
      let user = credentials?.prefix { $0 != ":" } ?? ""
      let password = credentials.flatMap { credentials in
        credentials.firstIndex(of: ":").map { credentials[credentials.index(after: $0)...] }
      }
      guard let name = Self.decoded(user), let secret = Self.decoded(password ?? "") else {
        throw .unreadableConnection()
      }
      self.user = name.isEmpty ? "default" : name
      self.password = password == nil ? nil : secret
      var database: Substring = ""
      self.usesTLS = ["rediss", "valkeys"].contains(scheme)
      switch scheme {
      case "redis", "valkey", "rediss", "valkeys":
        guard query == nil else { throw .unreadableConnection() }
        self.hosts = try Self.hosts(places)
        database = path.dropFirst()
      case "unix":
        guard places.isEmpty, let path = Self.decoded(path), path.count > 1 else { throw .unreadableConnection() }
        self.hosts = [.local(path: path)]
        if let query {
          guard query.hasPrefix("db=") else { throw .unreadableConnection() }
          database = query.dropFirst(3)
        }
      default: throw .unreadableConnection()
      }
      guard let number = database.isEmpty ? 0 : Int(database), (0..<1_000_000).contains(number) else {
        throw .unreadableConnection()
      }
      self.database = number
    }

    private static func hosts(_ text: Substring) throws(ValkeyError) -> [Host] {
      var hosts: [Host] = []
      for part in text.split(separator: ",", omittingEmptySubsequences: false) {
        var (name, port) = (part, Substring("6379"))
        if part.hasPrefix("[") {
          // An address of version 6 of the internet protocol.
          guard let end = part.firstIndex(of: "]") else { throw .unreadableConnection() }
          name = part[part.index(after: part.startIndex)..<end]
          let rest = part[part.index(after: end)...]
          guard rest.isEmpty || rest.hasPrefix(":") else { throw .unreadableConnection() }
          if !rest.isEmpty { port = rest.dropFirst() }
        } else if let colon = part.firstIndex(of: ":") {
          (name, port) = (part[..<colon], part[part.index(after: colon)...])
        }
        guard let decoded = Self.decoded(name), !decoded.isEmpty, let number = UInt16(port), number > 0 else {
          throw .unreadableConnection()
        }
        hosts.append(.network(name: decoded, port: "\(number)"))
      }
      return hosts
    }

    /// The text with the characters that `%` and two digits stand for; nil if it has a `%` without them, or a zero byte.
    private static func decoded(_ text: Substring) -> String? {
      var bytes: [UInt8] = []
      var rest = text.utf8[...]
      while let byte = rest.popFirst() {
        if byte != UInt8(ascii: "%") {
          bytes.append(byte)
          continue
        }
        guard rest.count >= 2, let code = UInt8(String(Substring(rest.prefix(2))), radix: 16) else { return nil }
        rest = rest.dropFirst(2)
        bytes.append(code)
      }
      return bytes.contains(0) ? nil : String(decoding: bytes, as: UTF8.self)
    }

    var name: ServerName { ServerName(self.hosts.map(\.name).joined(separator: ","), database: self.database) }
  }

  extension ServerAddress.Host {
    var name: String {
      switch self {
      case .network(let name, let port): name.contains(":") ? "[\(name)]:\(port)" : "\(name):\(port)"
      case .local(let path): path
      }
    }
  }

  /// What messages call a server: its hosts and database, and never a password.
  struct ServerName: Hashable, Sendable, CustomStringConvertible {
    private let host: String
    private let database: Int

    init(_ host: String, database: Int) {
      self.host = host
      self.database = database
    }

    /// The name at the beginning of a sentence.
    var description: String {
      self.database == 0 ? "The server \"\(self.host)\"" : "The server \"\(self.host)\", database \(self.database),"
    }
  }

  extension ValkeyError {
    fileprivate static func unreadableConnection() -> Self {
      Self(
        code: .invalidConnection,
        message: """
          The connection string cannot be read. Pass one such as "redis://user:password@host:6379/0" or \
          "unix:///run/valkey/valkey.sock". In a password, write %40 for @, %2F for / and %3F for ?.
          """
      )
    }
  }
#endif
