#if SwiftOperationPostgreSQL
  internal import OperationPersistence

  /// A statement with the types of its parameters. A connection with a session of its own prepares it once.
  struct Statement: Hashable, Sendable {
    let sql: String
    let types: [QueryType]
    /// Whether it is not prepared: several statements without parameters, in one transaction.
    let isScript: Bool

    init(_ sql: String, _ types: QueryType...) {
      self.sql = sql
      self.types = types
      self.isScript = false
    }

    /// A name at the server that is the same for the same statement, and another one for each other statement.
    var name: String {
      let types = self.types.map { "\($0.rawValue)" }.joined(separator: ",")
      return "swift_operation_" + String(StorageVersion.hash("\(self.sql) \(types)".utf8), radix: 16)
    }

    init(script: String) {
      self.sql = script
      self.types = []
      self.isScript = true
    }
  }
#endif
