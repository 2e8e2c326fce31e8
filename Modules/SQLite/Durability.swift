#if SwiftOperationSQLite
  internal import GRDB

  /// Whether a transaction waits until it is on the disk, as it does unless something else is asked for.
  enum Durability {
    /// Lets the transactions of a connection wait for the disk.
    static func enable(in database: Database) throws {
      try database.execute(sql: "PRAGMA synchronous = FULL")
    }

    /// Runs a body in a transaction.
    ///
    /// GRDB makes and prepares the statements of each transaction anew. These are kept.
    static func commit<R>(in database: Database, _ body: () throws -> R) throws -> R {
      try database.cachedStatement(sql: "BEGIN IMMEDIATE").execute()
      do {
        let result = try body()
        try database.cachedStatement(sql: "COMMIT").execute()
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
      try database.execute(sql: "PRAGMA synchronous = NORMAL")
      let result = Result { try body() }
      try self.enable(in: database)
      return try result.get()
    }
  }
#endif
