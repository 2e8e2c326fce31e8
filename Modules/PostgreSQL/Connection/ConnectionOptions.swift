#if SwiftOperationPostgreSQL
  internal import OperationLibPQ

  /// The options of a connection string, and those that libpq takes from the environment.
  struct ConnectionOptions: Sendable {
    private var values: [String: String] = [:]

    /// Reads a connection string.
    ///
    /// - Parameter connection: A connection string of libpq: `key=value` pairs, or an address.
    /// - Throws: A ``PostgreSQLError`` if it is neither. Its message does not contain the string.
    init(_ connection: String) throws(PostgreSQLError) {
      if Self.showsPassword(connection) {
        throw PostgreSQLError(
          code: .invalidConnection,
          message: """
            The connection string has an `@` behind that of its user, or in its path: libpq would take a part of the \
            password for the host. In a password, write %40 for @, %2F for / and %3F for ?; in the name of a database %40 for @.
            """
        )
      }
      var message: UnsafeMutablePointer<CChar>?
      guard let options = PQconninfoParse(connection, &message) else {
        // The message of libpq may quote a part of the string, which may be a password.
        let text = message.sentence
        PQfreemem(message)
        let reason =
          text.hasPrefix("invalid connection option") || text.hasPrefix("invalid URI query parameter")
          ? "has an option that libpq does not know" : "cannot be read"
        throw PostgreSQLError(
          code: .invalidConnection,
          message: """
            The connection string \(reason). Pass one of libpq, such as "host=db.example dbname=app user=app" or \
            "postgresql://app@db.example/app".
            """
        )
      }
      self.read(options)
      PQconninfoFree(options)
      if self["host"].split(separator: ",").contains(where: { $0.dropFirst().contains("@") }) {
        // It is a part of the password.
        throw PostgreSQLError(
          code: .invalidConnection,
          message: "The connection string has an `@` in its password or its host. Write %40 for one in a password."
        )
      }
      guard let defaults = PQconndefaults() else { return }
      self.read(defaults)
      PQconninfoFree(defaults)
    }

    /// The value of an option; empty if it has none.
    subscript(_ keyword: String) -> String { self.values[keyword] ?? "" }

    /// Whether an address has a character in its password that ends the password for libpq: then the rest is taken for the
    /// host, the port or the database, which messages name.
    private static func showsPassword(_ connection: String) -> Bool {
      let schemes = ["postgresql://", "postgres://"]
      guard let scheme = schemes.first(where: { connection.hasPrefix($0) }) else { return false }
      let address = connection.dropFirst(scheme.count).prefix { $0 != "?" }
      guard let last = address.lastIndex(of: "@") else { return false }
      return address[..<last].contains { $0 == "@" || $0 == "/" }
    }

    /// Takes what is not known yet.
    private mutating func read(_ options: UnsafeMutablePointer<PQconninfoOption>) {
      var option = options
      while let keyword = option.pointee.keyword.map({ String(cString: $0) }) {
        if let value = option.pointee.val.map({ String(cString: $0) }), !value.isEmpty, self[keyword].isEmpty {
          self.values[keyword] = value
        }
        option += 1
      }
    }
  }
#endif
