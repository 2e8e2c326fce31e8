#if SwiftOperationSQLite
  internal import Foundation
  internal import GRDB
  internal import OperationPersistence

  /// The schema and its migrations. Each step migrates one version to the next, and does not change after its release.
  enum DatabaseSchema {
    /// The application identifier of the databases of this library: "SOPS" in the header of the file.
    static let applicationID: Int32 = 0x534F_5053

    static let version: Int32 = 4

    /// The statements of the newest version, by the names of what they create.
    static let statements = [
      // A damaged key misleads the search in one tree. The table and its index are two trees, each with all keys.
      "entry": """
      CREATE TABLE entry (
        id INTEGER PRIMARY KEY, key TEXT NOT NULL, value BLOB NOT NULL, checksum INTEGER NOT NULL
      )
      """,
      "entry_key": "CREATE UNIQUE INDEX entry_key ON entry (key)",
      "tally": """
      CREATE TABLE tally (
        prefix TEXT NOT NULL PRIMARY KEY, count INTEGER NOT NULL, digest INTEGER NOT NULL, checksum INTEGER NOT NULL
      ) WITHOUT ROWID
      """,
      // Names and owners are bytes, because a text ends at its first null character.
      "lease": """
      CREATE TABLE lease (
        name BLOB NOT NULL PRIMARY KEY, owner BLOB NOT NULL, start TEXT NOT NULL, end INTEGER NOT NULL,
        duration INTEGER NOT NULL
      )
      """,
      "report": "CREATE TABLE report (message TEXT NOT NULL)",
    ]

    static func migrate(_ database: Database, from version: Int32) throws {
      if version == 0 {
        try self.create(in: database)
      } else {
        if version < 2 { try self.addChecksums(database) }
        if version < 3 { try self.addKeysToChecksums(database) }
        if version < 4 { try self.addIndexAndTallies(database) }
      }
      try database.execute(sql: "PRAGMA application_id = \(self.applicationID)")
      try database.execute(sql: "PRAGMA user_version = \(self.version)")
    }

    private static func create(in database: Database) throws {
      for name in ["entry", "entry_key", "tally", "lease", "report"] {
        try database.execute(sql: self.statements[name] ?? "")
      }
    }

    /// Version 2: a checksum for each entry, and the entries in the order of their keys.
    private static func addChecksums(_ database: Database) throws {
      try database.execute(
        sql: """
          CREATE TABLE entry2 (
            key TEXT NOT NULL PRIMARY KEY, value BLOB NOT NULL, checksum INTEGER NOT NULL
          ) WITHOUT ROWID
          """
      )
      let insert = try database.makeStatement(sql: "INSERT INTO entry2 (key, value, checksum) VALUES (?, ?, ?)")
      let rows = try Row.fetchCursor(database, sql: "SELECT key, value FROM entry")
      while let row = try rows.next() {
        let (key, value): (String, Data) = (row[0], row[1])
        try insert.execute(arguments: [key, value, EntryTable.checksum(of: Array(value))])
      }
      try database.execute(sql: "DROP TABLE entry")
      try database.execute(sql: "ALTER TABLE entry2 RENAME TO entry")
    }

    /// Version 3: the checksum of an entry includes its key. Entries that are damaged stay so.
    private static func addKeysToChecksums(_ database: Database) throws {
      let update = try database.makeStatement(sql: "UPDATE entry SET checksum = ? WHERE key = ?")
      for row in try Row.fetchAll(database, sql: "SELECT key, value, checksum FROM entry") {
        guard let key = String.fromDatabaseValue(row[0]), let value = Data.fromDatabaseValue(row[1]).map(Array.init),
          Int64.fromDatabaseValue(row[2]) == EntryTable.checksum(of: value)
        else { continue }
        try update.execute(arguments: [EntryTable.checksum(of: value, at: key), key])
      }
    }

    /// Version 4: the keys in an index next to the table, numbers of entries, leases and reports.
    ///
    /// - Throws: A ``DatabaseDamage`` if the entries are not in order, so that some may be hidden.
    private static func addIndexAndTallies(_ database: Database) throws {
      try DatabaseCheck.checkTrees(of: database)
      try database.execute(sql: "ALTER TABLE entry RENAME TO entry3")
      try self.create(in: database)
      let rows = try Row.fetchCursor(database, sql: "SELECT key, value, checksum FROM entry3")
      var last: String?
      while let row = try rows.next() {
        let value = (try? row.withUnsafeData(atIndex: 1) { data in data.map { [UInt8]($0) } ?? [] }) ?? []
        guard let key = String.fromDatabaseValue(row[0]),
          last.map({ $0.utf8.lexicographicallyPrecedes(key.utf8) }) ?? true
        else { throw DatabaseDamage(reason: "its entries are not in the order of their keys") }
        last = key
        let isSound = Int64.fromDatabaseValue(row[2]) == EntryTable.checksum(of: value, at: key)
        try EntryTable.apply([.put(key: key, value: isSound ? value : EntryTable.marked(value))], in: database)
      }
      try database.execute(sql: "DROP TABLE entry3")
    }
  }
#endif
