#if SwiftOperationSQLite
  internal import GRDB
  internal import GRDBSQLite

  /// Whether a transaction waits until it is on the disk, as it does unless something else is asked for.
  enum Durability {
    /// Lets the transactions of a connection wait for the disk, or not. What is written without the wait may not
    /// survive a crash of the system.
    static func set(waiting waits: Bool, in database: Database) throws {
      // It takes effect when it is prepared, so it cannot be kept.
      let sql = "PRAGMA synchronous = \(waits ? "FULL" : "NORMAL")"
      let code = sqlite3_exec(database.sqliteConnection, sql, nil, nil, nil)
      guard code != SQLITE_OK else { return }
      let message = String(cString: sqlite3_errmsg(database.sqliteConnection))
      throw DatabaseError(resultCode: ResultCode(rawValue: code), message: message, sql: sql)
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
  }
#endif
