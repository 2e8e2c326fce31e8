#if SwiftOperationSQLite
  internal import GRDB

  /// The pages of a file that nothing uses. They are given back to the system in small steps between the writes.
  ///
  /// SQLite keeps the pages of removed entries for later ones. Without this, a file would stay as large as it has ever been.
  enum FreeSpace {
    /// The number of pages that one step moves at most.
    static let stepSize = 64
    /// How many entries are removed before it is looked at again.
    static let interval = 32

    /// Prepares a database for giving pages back, in a new file before its first table.
    static func prepare(_ database: Database) throws {
      try database.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
    }

    /// Writes a database anew, once, if an earlier version of the library has made it. The database has to be sound.
    static func enable(in database: Database) throws {
      // 2 is INCREMENTAL.
      if try Int.fetchOne(database, sql: "PRAGMA auto_vacuum") == 2 { return }
      try self.prepare(database)
      try database.execute(sql: "VACUUM")
    }

    /// Gives some pages back, if more than an eighth of the file is unused.
    ///
    /// - Returns: Whether there are more to give back. A file that could not be prepared keeps all of them.
    static func reclaim(in database: Database) throws -> Bool {
      guard let unused = try self.reclaimableCount(database) else { return false }
      try database.execute(sql: "PRAGMA incremental_vacuum(\(self.stepSize))")
      return try self.reclaimableCount(database).map { $0 < unused } ?? false
    }

    /// The number of unused pages; nil if they are few.
    private static func reclaimableCount(_ database: Database) throws -> Int? {
      let unused = try Int.fetchOne(database, sql: "PRAGMA freelist_count") ?? 0
      guard unused > self.stepSize else { return nil }
      return unused > (try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0) / 8 ? unused : nil
    }
  }
#endif
