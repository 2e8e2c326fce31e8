#if SwiftOperationPostgreSQL
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
      // FNV-1a, 64 bits: <https://datatracker.ietf.org/doc/draft-eastlake-fnv/>.
      let text = self.sql.utf8.map { UInt64($0) } + self.types.map { UInt64($0.rawValue) }
      let digest = text.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ $1) &* 0x0000_0100_0000_01B3 }
      return "swift_operation_" + String(digest, radix: 16)
    }

    init(script: String) {
      self.sql = script
      self.types = []
      self.isScript = true
    }
  }
#endif
