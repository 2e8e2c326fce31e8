#if SwiftOperationPostgreSQL
  /// What messages call a database: its user, host and name, and never a password.
  struct ConnectionName: Sendable, Hashable, CustomStringConvertible {
    let user: String
    let database: String
    let host: String
    let port: String

    init(_ options: ConnectionOptions) {
      self.user = options["user"]
      self.database = options["dbname"]
      self.host = options["host"].isEmpty ? options["hostaddr"] : options["host"]
      self.port = options["port"]
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
