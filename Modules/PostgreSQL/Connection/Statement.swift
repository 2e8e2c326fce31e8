#if SwiftOperationPostgreSQL
  /// A statement with the types of its parameters. Each connection prepares it once.
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

    init(script: String) {
      self.sql = script
      self.types = []
      self.isScript = true
    }
  }
#endif
