#if SwiftOperationPostgreSQL
  /// The name of a schema, as statements write it.
  struct SchemaName: Hashable, Sendable, CustomStringConvertible {
    let name: String

    /// - Throws: A ``PostgreSQLError`` if statements cannot write the name, or PostgreSQL has it for itself.
    init(_ name: String) throws(PostgreSQLError) {
      let isTaken = name.hasPrefix("pg_") || name == "information_schema"
      let isWritable = !name.utf8.contains { [0, 34, 36, 39, 92].contains($0) }
      guard !name.isEmpty, name.utf8.count <= 63, isWritable, !isTaken else {
        throw PostgreSQLError(
          code: .failed,
          message: """
            The schema \(name.debugDescription) cannot be used. Pass a name of 1 to 63 bytes without quotes, backslashes and \
            dollar signs that does not begin with "pg_".
            """
        )
      }
      self.name = name
    }

    /// The name as an identifier.
    var quoted: String { "\"\(self.name)\"" }

    /// The name as a text.
    var literal: String { "'\(self.name)'" }

    var description: String { self.name }

    /// A number for advisory locks of this schema, which is the same in all processes.
    var lockNumber: Int32 {
      // FNV-1a, 32 bits: <https://datatracker.ietf.org/doc/draft-eastlake-fnv/>.
      Int32(bitPattern: self.name.utf8.reduce(0x811C_9DC5 as UInt32) { ($0 ^ UInt32($1)) &* 0x0100_0193 })
    }

    static func quoted(_ name: String) -> String {
      "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
  }
#endif
