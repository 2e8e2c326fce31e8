#if SwiftOperationSQLite
  internal import GRDB
  internal import GRDBSQLite
  internal import OperationPersistence

  /// Checks of a file that a connection has open.
  enum OpenDatabase {
    /// Checks that the file is still at its path: what is written to it would not be found there.
    ///
    /// - Throws: A ``/OperationPersistence/StorageError`` if it was removed, renamed or replaced.
    static func checkPlace(of database: Database, at path: String) throws(StorageError) {
      var hasMoved: CInt = 0
      let code = sqlite3_file_control(database.sqliteConnection, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
      // Not every file system of SQLite can tell.
      guard code == SQLITE_OK, hasMoved != 0 else { return }
      throw StorageError(
        code: .moved,
        message: """
          \(path) was removed, renamed or replaced while it was open, so that nothing can be stored in it. Move it back, \
          or close the storage and open it again.
          """
      )
    }
  }
#endif
