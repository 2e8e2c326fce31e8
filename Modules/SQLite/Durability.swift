#if SwiftOperationSQLite
  internal import GRDB
  internal import GRDBSQLite

  /// Whether a transaction waits until it is on the disk, as it does unless something else is asked for.
  enum Durability {
    /// Lets the transactions of a connection wait for the disk.
    static func enable(in database: Database) throws {
      try self.run("PRAGMA synchronous = FULL", in: database)
    }

    /// Runs a body in a transaction.
    ///
    /// GRDB makes and prepares the statements of each transaction anew. These are kept.
    static func commit<R>(in database: Database, _ body: () throws -> R) throws -> R {
      try PreparedStatement("BEGIN IMMEDIATE", in: database).run()
      do {
        let result = try body()
        try PreparedStatement("COMMIT", in: database).run()
        return result
      } catch {
        // Some errors have ended the transaction already. What cannot be rolled back is when the connection is closed.
        if database.isInsideTransaction { try? database.rollback() }
        throw error
      }
    }

    /// Runs a body whose transactions need not survive a crash of the system.
    ///
    /// Later transactions wait again: setting it once for those that need not is less than setting it for each.
    static func withoutWaiting<R>(in database: Database, _ body: () throws -> R) throws -> R {
      try self.run("PRAGMA synchronous = NORMAL", in: database)
      let result = Result { try body() }
      try self.enable(in: database)
      return try result.get()
    }

    /// Runs a statement that takes effect when it is prepared, so that it cannot be kept.
    private static func run(_ sql: String, in database: Database) throws {
      let code = sqlite3_exec(database.sqliteConnection, sql, nil, nil, nil)
      guard code != SQLITE_OK else { return }
      let message = String(cString: sqlite3_errmsg(database.sqliteConnection))
      throw DatabaseError(resultCode: ResultCode(rawValue: code), message: message, sql: sql)
    }
  }
#endif
