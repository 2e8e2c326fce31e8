#if SwiftOperationSQLite
  internal import Foundation
  internal import GRDB

  /// The schema and its migrations. Each step migrates one version to the next, and does not change after its release.
  enum DatabaseSchema {
    /// The application identifier of the databases of this library: "SOPS" in the header of the file.
    static let applicationID: Int32 = 0x534F_5053

    static let version: Int32 = 4

    static func migrate(_ database: Database, from version: Int32) throws {
      if version < 1 {
        try database.execute(sql: "CREATE TABLE entry (key TEXT NOT NULL PRIMARY KEY, value BLOB NOT NULL)")
      }
      if version < 2 { try self.addChecksums(database) }
      if version < 3 { try self.addKeysToChecksums(database) }
      if version < 4 { try LeaseTable.create(in: database) }
      try database.execute(sql: "PRAGMA application_id = \(self.applicationID)")
      try database.execute(sql: "PRAGMA user_version = \(self.version)")
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
  }
#endif
