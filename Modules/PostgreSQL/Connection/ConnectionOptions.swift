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
      var message: UnsafeMutablePointer<CChar>?
      guard let options = PQconninfoParse(connection, &message) else {
        // The message of libpq may quote a part of the string, which may be a password.
        PQfreemem(message)
        throw PostgreSQLError(
          code: .invalidConnection,
          message: """
            The connection string cannot be read. Pass one of libpq, such as "host=db.example dbname=app user=app" or \
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
