#if SwiftOperationSQLite
  internal import Foundation
  internal import GRDB
  internal import OperationCore
  internal import OperationPersistence

  /// Opens a database, after checking that the file is one of this library.
  struct DatabaseOpening {
    let path: String
    let busyTimeout: Duration

    func open() throws(StorageError) -> DatabasePool {
      try self.checkHeader()
      // Two processes may open a new file at once. SQLite does not wait for the other one to set up the write-ahead
      // log.
      let end = ContinuousClock.now.advanced(by: self.busyTimeout.clampedForClock)
      while true {
        do throws(StorageError) {
          return try StorageError.translating(self.path) {
            try self.prepare()
            return try DatabasePool(path: self.path, configuration: self.configuration)
          }
        } catch {
          guard error.code == .busy || self.hasLostLog(error), ContinuousClock.now < end else { throw error }
          Thread.sleep(forTimeInterval: 0.005)
        }
      }
    }

    /// Whether the write-ahead log was removed while the database was being opened: GRDB looks at its size, and the last
    /// other process that closes the database removes it.
    private func hasLostLog(_ error: StorageError) -> Bool {
      (error.cause as? CocoaError)?.code == .fileReadNoSuchFile
    }

    private var configuration: Configuration {
      var configuration = Configuration()
      configuration.busyMode = .timeout(self.busyTimeout.clampedForClock.seconds)
      configuration.label = "swift-operation"
      configuration.maximumReaderCount = 4
      return configuration
    }

    /// Rejects a file that is no database before SQLite opens it. An empty file becomes a database.
    private func checkHeader() throws(StorageError) {
      guard let file = FileHandle(forReadingAtPath: self.path) else { return }
      defer { try? file.close() }
      let header: Data
      do { header = try file.read(upToCount: 16) ?? Data() } catch {
        throw StorageError(
          code: .cannotOpen,
          message: "\(self.path) cannot be read. Pass the path of a file.",
          cause: error
        )
      }
      guard header.isEmpty || header == Data("SQLite format 3\0".utf8) else {
        throw .notADatabase(self.path, "it is no SQLite database", cause: nil)
      }
    }

    /// Creates the schema in a new file, or migrates an older one, in one transaction.
    private func prepare() throws {
      let database = try DatabaseQueue(path: self.path, configuration: self.configuration)
      defer { try? database.close() }
      // Throws, before anything is written, if the file is not one of this library.
      if try database.read({ try self.needsMigration($0) }) {
        try database.writeWithoutTransaction { database in
          try database.inTransaction(.immediate) {
            // Another process may have been faster.
            if try self.needsMigration(database) {
              try DatabaseSchema.migrate(database, from: try self.version(of: database))
            }
            return .commit
          }
        }
      }
    }

    private func version(of database: Database) throws -> Int32 {
      try Int32.fetchOne(database, sql: "PRAGMA user_version") ?? 0
    }

    private func needsMigration(_ database: Database) throws -> Bool {
      let applicationID = try Int32.fetchOne(database, sql: "PRAGMA application_id") ?? 0
      let version = try self.version(of: database)
      let tableCount = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master") ?? 0
      if applicationID == 0, version == 0, tableCount == 0 { return true }
      guard applicationID == DatabaseSchema.applicationID else {
        throw StorageError.notADatabase(self.path, "it is a database of another program", cause: nil)
      }
      guard version <= DatabaseSchema.version else {
        throw StorageError(
          code: .newerSchema,
          message: """
            \(self.path) has the schema \(version), and this version of the library knows \(DatabaseSchema.version) at \
            most. The file is left as it is. Use the version of the program that has written it, or another path.
            """
        )
      }
      return version < DatabaseSchema.version
    }
  }
#endif
