#if SwiftOperationSQLite
  internal import GRDB
  internal import GRDBSQLite
  internal import OperationCore
  package import OperationPersistence

  /// What a database has, read without changing it or a file next to it, also if it is damaged.
  ///
  /// The file with its log is read into memory and checked there. No other process may have it open.
  package struct DatabaseInspection: Sendable {
    /// The sound entries, in the order of their keys.
    package let entries: [StorageEntry]
    /// What is left of entries whose bytes are damaged, in the order of their keys.
    package let damaged: [StorageEntry]
    /// How many entries of each prefix are missing without a trace.
    package let missing: [String: Int64]
    /// What is wrong with the file; nil if it is sound.
    package let damage: String?
    /// The version of the schema.
    package let schema: Int
    /// The size of the file with its log, in bytes.
    package let size: Int

    /// Reads a file.
    ///
    /// - Parameter path: The path of the file.
    /// - Throws: A ``StorageError`` if it cannot be read, is open in a process (`busy`), belongs to another program
    ///   (`notADatabase`) or has a newer schema (`newerSchema`).
    package init(path: String) throws(StorageError) {
      guard !UsedFile.contains(FileIdentity(path)) else { throw Self.isInUse(path) }
      let writable = OpenFile(path, isWritable: true)
      guard let file = writable ?? OpenFile(path), let header = file.read(at: 0, count: 100) else {
        throw StorageError(code: .cannotOpen, message: "\(path) cannot be read. Pass the path of a file.")
      }
      // While the lock is held the file is not opened elsewhere. A file that cannot be written cannot be locked.
      guard writable == nil ? !file.isOpenElsewhere : file.lockOut() else { throw Self.isInUse(path) }
      let log = DamagedFile.log(ofFile: path, file)
      let pages = DatabasePages(file: file, log: log)
      let isNamed = DamagedFile.isOfThisLibrary(file) || Self.number(pages.page(1), 68) == DatabaseSchema.applicationID
      let schema = Self.number(pages.page(1), 60)
      if isNamed, schema > DatabaseSchema.version {
        throw StorageError(
          code: .newerSchema,
          message: """
            \(path) has the schema \(schema), and this version of the tool knows \(DatabaseSchema.version) at most. Use \
            the tool of a newer version of the library.
            """
        )
      }
      self.schema = Int(schema)
      self.size = file.size + (OpenFile(path + "-wal")?.size ?? 0)
      let result = isNamed && !log.isDamaged ? Result { try Self.soundEntries(of: pages) } : nil
      switch result {
      case .success(let entries):
        self.entries = entries
        (self.damaged, self.missing, self.damage) = ([], [:], nil)
        return
      case .failure(let error):
        self.damage =
          DatabaseDamage(error, path)?.reason ?? (error as? DatabaseDamage)?.reason ?? ShownText.whole(error)
      case nil:
        self.damage = isNamed ? "its write-ahead log is damaged" : "its header is damaged"
      }
      let salvage = Salvage(pages)
      guard isNamed || salvage.isOfThisLibrary else {
        throw StorageError(
          code: .notADatabase,
          message: "\(path) is no storage of this library\(header.isEmpty ? ": it is empty" : "")."
        )
      }
      self.entries = Self.sorted(salvage.entries)
      self.damaged = Self.sorted(salvage.damaged)
      self.missing = salvage.missing
    }

    /// Checks a database in memory, and returns its entries.
    private static func soundEntries(of pages: DatabasePages) throws -> [StorageEntry] {
      var image: [UInt8] = []
      image.reserveCapacity(pages.count * pages.size)
      for number in stride(from: 1, through: pages.count, by: 1) { image += pages.page(number) }
      guard image.count >= 100 else { throw DatabaseDamage(reason: "it is empty") }
      // The log is in the pages already, and SQLite would look for it.
      image[18] = 1
      image[19] = 1
      return try DatabaseQueue().writeWithoutTransaction { database in
        guard let copy = sqlite3_malloc64(UInt64(image.count)) else {
          throw DatabaseDamage(reason: "it does not fit into memory")
        }
        image.withUnsafeBytes { copy.copyMemory(from: $0.baseAddress.unsafelyUnwrapped, byteCount: image.count) }
        let code = sqlite3_deserialize(
          database.sqliteConnection,
          "main",
          copy.assumingMemoryBound(to: UInt8.self),
          Int64(image.count),
          Int64(image.count),
          UInt32(SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE)
        )
        guard code == SQLITE_OK else { throw DatabaseDamage(reason: "SQLite does not open it (\(code))") }
        let version = try Int32.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        if version < DatabaseSchema.version {
          try database.inTransaction(.immediate) {
            try DatabaseSchema.migrate(database, from: version)
            return .commit
          }
        }
        try DatabaseCheck.check(database)
        return try EntryTable.entries(withPrefix: "", in: database)
      }
    }

    private static func sorted(_ entries: [[UInt8]: StorageEntry]) -> [StorageEntry] {
      entries.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
    }

    private static func number(_ page: [UInt8], _ place: Int) -> Int32 {
      Int32(bitPattern: page[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) })
    }

    private static func isInUse(_ path: String) -> StorageError {
      StorageError(
        code: .busy,
        message: "\(path) is in use by a process. End that process, and try again."
      )
    }
  }
#endif
