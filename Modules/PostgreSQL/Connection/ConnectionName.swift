#if SwiftOperationPostgreSQL
  internal import OperationLibPQ

  /// What messages call a database: its user, host and name, and never a password.
  struct ConnectionName: Sendable, Hashable, CustomStringConvertible {
    var user = ""
    var database = ""
    var host = ""
    var port = ""

    /// Reads a connection string. What it does not name, libpq takes from the environment.
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
      guard let defaults = PQconndefaults() else { return }
      self.read(defaults)
      PQconninfoFree(defaults)
    }

    /// Takes what is not known yet.
    private mutating func read(_ options: UnsafeMutablePointer<PQconninfoOption>) {
      var option = options
      while let keyword = option.pointee.keyword {
        if let value = option.pointee.val.map({ String(cString: $0) }), !value.isEmpty {
          switch String(cString: keyword) {
          case "user" where self.user.isEmpty: self.user = value
          case "dbname" where self.database.isEmpty: self.database = value
          case "host" where self.host.isEmpty: self.host = value
          case "port" where self.port.isEmpty: self.port = value
          default: break
          }
        }
        option += 1
      }
    }

    /// The name at the beginning of a sentence.
    var description: String { "T" + self.text.dropFirst() }

    /// The name inside of a sentence.
    var text: String {
      let database = self.database.isEmpty ? self.user : self.database
      return "the database \"\(database)\" of \(self.host.isEmpty ? "the local server" : self.host):\(self.port)"
    }
  }
#endif
