#if SwiftOperationSQLite
  internal import GRDB
  internal import OperationPersistence

  /// Finds damage anywhere in a database, so that no entry is missing without a report.
  enum DatabaseCheck {
    /// Checks the trees, the statements of the schema, all entries, their index and their numbers.
    ///
    /// - Throws: A ``DatabaseDamage``, or an error of SQLite.
    /// - Complexity: O(*n*) in the size of the file.
    static func check(_ database: Database) throws {
      try self.checkTrees(of: database)
      // Its index, too, which nothing else reads whole.
      try self.perform("PRAGMA integrity_check(lease)", in: database)
      for (name, statement) in DatabaseSchema.statements {
        let found = try String.fetchOne(
          database,
          sql: "SELECT sql FROM sqlite_master WHERE name = ?",
          arguments: [name]
        )
        guard found == statement else { throw DatabaseDamage(reason: "the definition of \(name) has changed") }
      }
      let (tallies, entries) = try self.readEntries(of: database)
      guard try self.readIndex(of: database) == entries else {
        throw DatabaseDamage(reason: "the index of the keys does not fit the entries")
      }
      guard try TallyTable.tallies(in: database) == tallies else {
        throw DatabaseDamage(reason: "the entries are not those that were stored")
      }
    }

    /// Checks the pages, but not what the rows contain.
    static func checkTrees(of database: Database) throws { try self.perform("PRAGMA quick_check(1)", in: database) }

    private static func perform(_ check: String, in database: Database) throws {
      let result = try Row.fetchOne(database, sql: check).flatMap { String.fromDatabaseValue($0[0]) }
      guard result == "ok" else { throw DatabaseDamage(reason: "SQLite finds \(result ?? "nothing")") }
    }

    /// The number of pairs of keys and identifiers, and the sum of their hashes.
    private struct Pairs: Equatable {
      var count = 0
      var digest: UInt64 = 0

      mutating func add(_ key: String, _ id: Int64) {
        self.count += 1
        self.digest &+= StorageVersion.hash(key.utf8, after: UInt64(bitPattern: id) &* 0x9E37_79B9_7F4A_7C15)
      }
    }

    private static func readEntries(of database: Database) throws -> ([String: Tally], Pairs) {
      var tallies: [String: Tally] = [:]
      var pairs = Pairs()
      let rows = try Row.fetchCursor(database, sql: "SELECT key, value, checksum, id FROM entry NOT INDEXED")
      while let row = try rows.next() {
        guard let key = String.fromDatabaseValue(row[0]), let checksum = Int64.fromDatabaseValue(row[2]),
          let id = Int64.fromDatabaseValue(row[3]), EntryTable.isSound(row, key, checksum)
        else { throw DatabaseDamage(reason: "an entry does not have its checksum") }
        tallies[TallyTable.prefix(of: key), default: Tally()].add(checksum)
        pairs.add(key, id)
      }
      return (tallies, pairs)
    }

    private static func readIndex(of database: Database) throws -> Pairs {
      var pairs = Pairs()
      var last: String?
      let rows = try Row.fetchCursor(database, sql: "SELECT key, id FROM entry INDEXED BY entry_key ORDER BY key")
      while let row = try rows.next() {
        guard let key = String.fromDatabaseValue(row[0]), let id = Int64.fromDatabaseValue(row[1]),
          last.map({ $0.utf8.lexicographicallyPrecedes(key.utf8) }) ?? true
        else { throw DatabaseDamage(reason: "the keys are not in order") }
        last = key
        pairs.add(key, id)
      }
      return pairs
    }
  }
#endif
