#if SwiftOperationSQLite
  internal import GRDB

  /// How many entries there are, and the sum of their checksums.
  struct Tally: Hashable, Sendable {
    var count: Int64 = 0
    var digest: Int64 = 0

    mutating func add(_ checksum: Int64) {
      self.count += 1
      self.digest &+= checksum
    }

    mutating func remove(_ checksum: Int64) {
      self.count -= 1
      self.digest &-= checksum
    }
  }

  /// The tallies of the entries, by the first components of their keys. They change with the entries.
  enum TallyTable {
    /// The first component of a key, with the slash at its end; empty if the key has no slash.
    static func prefix(of key: String) -> String {
      guard let slash = key.utf8.firstIndex(of: UInt8(ascii: "/")) else { return "" }
      return String(key[...slash])
    }

    /// Reads all tallies.
    ///
    /// - Throws: A ``DatabaseDamage`` if one of them is damaged.
    static func tallies(in database: Database) throws -> [String: Tally] {
      var tallies: [String: Tally] = [:]
      let statement = try database.cachedStatement(sql: "SELECT prefix, count, digest, checksum FROM tally")
      let rows = try Row.fetchCursor(statement)
      while let row = try rows.next() {
        let (prefix, tally) = try self.tally(row)
        tallies[prefix] = tally
      }
      return tallies
    }

    /// Changes tallies by the differences that a batch makes.
    static func apply(_ changes: [String: Tally], in database: Database) throws {
      for (prefix, change) in changes where change != Tally() {
        let select = try database.cachedStatement(
          sql: "SELECT prefix, count, digest, checksum FROM tally WHERE prefix = ?"
        )
        var tally = try Row.fetchOne(select, arguments: [prefix]).map { try self.tally($0).1 } ?? Tally()
        tally.count += change.count
        tally.digest &+= change.digest
        if tally.count == 0 {
          try database.cachedStatement(sql: "DELETE FROM tally WHERE prefix = ?").execute(arguments: [prefix])
        } else {
          try database.cachedStatement(sql: "INSERT OR REPLACE INTO tally VALUES (?, ?, ?, ?)")
            .execute(arguments: [prefix, tally.count, tally.digest, self.checksum(of: tally, prefix)])
        }
      }
    }

    static func checksum(of tally: Tally, _ prefix: String) -> Int64 {
      let numbers = withUnsafeBytes(of: (tally.count.littleEndian, tally.digest.littleEndian)) { Array($0) }
      return EntryTable.checksum(of: numbers, at: prefix)
    }

    private static func tally(_ row: Row) throws -> (String, Tally) {
      guard let prefix = String.fromDatabaseValue(row[0]), let count = Int64.fromDatabaseValue(row[1]),
        let digest = Int64.fromDatabaseValue(row[2]),
        Int64.fromDatabaseValue(row[3]) == self.checksum(of: Tally(count: count, digest: digest), prefix)
      else { throw DatabaseDamage(reason: "the number of entries does not have its checksum") }
      return (prefix, Tally(count: count, digest: digest))
    }
  }
#endif
