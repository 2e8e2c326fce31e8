#if SwiftOperationSQLite
  internal import Foundation
  internal import GRDB
  internal import OperationCore
  internal import OperationPersistence

  /// Opens a database, after checking that the file is one of this library and that it is sound.
  struct DatabaseOpening {
    let path: String
    let busyTimeout: Duration

    struct Opened {
      let database: DatabasePool
      let use: UsedFile?
      /// What has to be reported about files that were damaged.
      let reports: [String]
    }

    func open() throws(StorageError) -> Opened {
      do { return try self.openOnce() } catch  where error.code == .full {
        // The index of the log and its first pages take some room.
        guard DiskReserve(ofFile: self.path).giveUp() else { throw error }
        return try self.openOnce()
      }
    }

    private func openOnce() throws(StorageError) -> Opened {
      let end = ContinuousClock.now.advanced(by: self.busyTimeout.clampedForClock)
      return try StorageError.translating(self.path) {
        let identity = FileIdentity(self.path)
        do { return try self.openSound(until: end) } catch let damage as DatabaseDamage {
          try self.replace(damage, identity, until: end)
          return try self.openSound(until: end)
        }
      }
    }

    private func openSound(until end: ContinuousClock.Instant) throws -> Opened {
      let (database, use) = try self.connect(until: end)
      do {
        let reports = try database.read { database in
          try DatabaseCheck.check(database)
          return try String.fetchAll(database, sql: "SELECT message FROM report")
        }
        // GRDB sets another one for databases with a write-ahead log.
        try database.writeWithoutTransaction { try Durability.set(waiting: true, in: $0) }
        // Its file stays as large as it was if there is no room for that, or another process writes.
        try? database.writeWithoutTransaction { try FreeSpace.enable(in: $0) }
        return Opened(database: database, use: use, reports: reports)
      } catch {
        try? database.close()
        throw DatabaseDamage(error, self.path) ?? error
      }
    }

    private func replace(
      _ damage: DatabaseDamage,
      _ identity: FileIdentity?,
      until end: ContinuousClock.Instant
    ) throws {
      let folder = FolderLock(ofFile: self.path, until: end)
      // Another process may have replaced it in between.
      guard FileIdentity(self.path) == identity else { return }
      try DamagedFile(path: self.path).replace(damage, in: folder, until: end)
    }

    /// Opens the file and migrates it, while no other storage opens it.
    private func connect(until end: ContinuousClock.Instant) throws -> (DatabasePool, UsedFile?) {
      let folder = FolderLock(ofFile: self.path, until: end)
      defer { withExtendedLifetime(folder) {} }
      try DamagedFile(path: self.path).finish(in: folder)
      try self.checkFile()
      // Two processes may open a new file at once. SQLite does not wait for the other one to set up the write-ahead
      // log.
      while true {
        do {
          try self.prepare()
          let database = try DatabasePool(path: self.path, configuration: self.configuration)
          return (database, FileIdentity(self.path).map(UsedFile.init))
        } catch  where self.isBusy(error) {
          guard ContinuousClock.now < end else { throw error }
          Thread.sleep(forTimeInterval: 0.005)
        } catch {
          throw DatabaseDamage(error, self.path) ?? error
        }
      }
    }

    /// Whether another process prevents opening for a moment.
    private func isBusy(_ error: any Error) -> Bool {
      if let error = error as? DatabaseError { return [.SQLITE_BUSY, .SQLITE_LOCKED].contains(error.resultCode) }
      // GRDB looks at the size of the write-ahead log, and the last other process that closes the database removes it.
      return (error as? CocoaError)?.code == .fileReadNoSuchFile
    }

    private var configuration: Configuration {
      var configuration = Configuration()
      // SQLite counts milliseconds in 32 bits.
      configuration.busyMode = .timeout(min(self.busyTimeout.clampedForClock.seconds, 2_000_000))
      configuration.label = "swift-operation"
      configuration.maximumReaderCount = 4
      configuration.prepareDatabase { database in
        // What is removed is overwritten: it is not for others to read, and not for a salvage to find.
        try database.execute(sql: "PRAGMA secure_delete = ON")
      }
      return configuration
    }

    /// Rejects a file that is no database, and finds a damaged log, before SQLite opens it. SQLite would drop the
    /// transactions behind the damage without an error. An empty file becomes a database.
    private func checkFile() throws {
      // SQLite has opened a file that a storage of this process uses, and reading it here would end the locks.
      guard !UsedFile.contains(FileIdentity(self.path)),
        let file = OpenFile(self.path, isWritable: true) ?? OpenFile(self.path)
      else { return }
      guard let header = file.read(at: 0, count: 16) else {
        throw StorageError(code: .cannotOpen, message: "\(self.path) cannot be read. Pass the path of a file.")
      }
      if header.isEmpty {
        if DamagedFile.log(ofFile: self.path, file).frames.isEmpty { return }
        throw DatabaseDamage(reason: "it is empty, and its log is not")
      }
      guard header == Array("SQLite format 3\0".utf8) else {
        throw DatabaseDamage(
          reason: "its header is none of SQLite",
          fallback: .notADatabase(self.path, "it is no SQLite database", cause: nil)
        )
      }
      // The log of a file that another process has open is changing, and SQLite has read it before.
      if DamagedFile.isOfThisLibrary(file), file.lockOut(), DamagedFile.log(ofFile: self.path, file).isDamaged {
        throw DatabaseDamage(reason: "its write-ahead log is damaged")
      }
    }

    /// Creates the schema in a new file, or migrates an older one, in one transaction.
    private func prepare() throws {
      let database = try DatabaseQueue(path: self.path, configuration: self.configuration)
      defer { try? database.close() }
      // Throws, before anything is written, if the file is not one of this library.
      if try database.read({ try self.needsMigration($0) }) {
        try database.writeWithoutTransaction { database in
          try FreeSpace.prepare(database)
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
        throw DatabaseDamage(
          reason: "its header does not name this library",
          fallback: .notADatabase(self.path, "it is a database of another program", cause: nil)
        )
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
