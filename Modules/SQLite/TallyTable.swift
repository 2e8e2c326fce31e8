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
        let (prefix, tally) = try self.tally(
          String.fromDatabaseValue(row[0]),
          Int64.fromDatabaseValue(row[1]),
          Int64.fromDatabaseValue(row[2]),
          Int64.fromDatabaseValue(row[3])
        )
        tallies[prefix] = tally
      }
      return tallies
    }

    /// A tally before and after a transaction.
    struct Change: Sendable {
      let prefix: String
      let before: Tally
      let after: Tally
    }

    /// Reads the tally of a prefix.
    ///
    /// - Throws: A ``DatabaseDamage`` if it is damaged.
    static func tally(of prefix: String, in database: Database) throws -> Tally {
      var prefix = prefix
      let find = try PreparedStatement("SELECT count, digest, checksum FROM tally WHERE prefix = ?", in: database)
      let row = try prefix.withUTF8 { prefix in
        try find.firstRow(.text(prefix)) { ($0.number(0), $0.number(1), $0.number(2)) }
      }
      return try row.map { try self.tally(prefix, $0, $1, $2).tally } ?? Tally()
    }

    /// Changes tallies by the differences that batches make, and returns those that were changed.
    static func apply(_ changes: [String: Tally], in database: Database) throws -> [Change] {
      var result: [Change] = []
      for (prefix, change) in changes where change != Tally() {
        var prefix = prefix
        let before = try self.tally(of: prefix, in: database)
        var tally = before
        tally.count += change.count
        tally.digest &+= change.digest
        let checksum = self.checksum(of: tally, prefix)
        try prefix.withUTF8 { prefix in
          if tally.count == 0 {
            try PreparedStatement("DELETE FROM tally WHERE prefix = ?", in: database).run(.text(prefix))
          } else {
            try PreparedStatement("INSERT OR REPLACE INTO tally VALUES (?, ?, ?, ?)", in: database)
              .run(.text(prefix), .number(tally.count), .number(tally.digest), .number(checksum))
          }
        }
        result.append(Change(prefix: prefix, before: before, after: tally))
      }
      return result
    }

    static func checksum(of tally: Tally, _ prefix: String) -> Int64 {
      let numbers = withUnsafeBytes(of: (tally.count.littleEndian, tally.digest.littleEndian)) { Array($0) }
      return EntryTable.checksum(of: numbers, at: prefix)
    }

    private static func tally(
      _ prefix: String?,
      _ count: Int64?,
      _ digest: Int64?,
      _ checksum: Int64?
    ) throws -> (prefix: String, tally: Tally) {
      if let prefix, let count, let digest {
        let tally = Tally(count: count, digest: digest)
        if self.checksum(of: tally, prefix) == checksum { return (prefix, tally) }
      }
      throw DatabaseDamage(reason: "the number of entries does not have its checksum")
    }
  }
#endif
