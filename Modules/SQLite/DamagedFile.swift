#if SwiftOperationSQLite
  internal import Foundation
  internal import GRDB
  internal import OperationCore
  internal import OperationPersistence

  /// Sets a damaged file aside, and replaces it by a new one with the entries that can be read.
  ///
  /// The new file is complete, under a name of its own, before the first file gets another name. If the process ends
  /// in between, the next storage that opens the path continues. All of it happens with the lock of the folder.
  struct DamagedFile {
    let path: String

    private var draft: String { self.path + ".recovering" }
    private var replacement: String { self.path + ".recovered" }

    /// Makes the replacement of a damaged file, and puts it in the place of the file.
    ///
    /// - Parameters:
    ///   - damage: What was found.
    ///   - folder: The lock of the folder; nil if it cannot be locked.
    ///   - end: When to stop waiting for other processes that have the file open.
    /// - Throws: A ``StorageError`` if that is not possible. The file is then left as it is.
    func replace(_ damage: DatabaseDamage, in folder: FolderLock?, until end: ContinuousClock.Instant) throws {
      guard let folder, !UsedFile.contains(FileIdentity(self.path)) else {
        throw StorageError.damaged(self.path, damage.reason)
      }
      guard let file = OpenFile(self.path, isWritable: true) else { throw Self.refusal(self.path, damage) }
      while !file.lockOut() {
        guard ContinuousClock.now < end else {
          throw Self.isOfThisLibrary(file)
            ? StorageError.damaged(self.path, damage.reason) : Self.refusal(self.path, damage)
        }
        Thread.sleep(forTimeInterval: 0.005)
      }
      let log = Self.log(ofFile: self.path, file)
      let salvage = Salvage(DatabasePages(file: file, log: log))
      guard Self.isOfThisLibrary(file) || salvage.isOfThisLibrary else {
        throw Self.refusal(self.path, damage)
      }
      try self.write(salvage, self.message(salvage, damage, log))
      file.copyOwnership(to: self.draft)
      try Self.rename(self.draft, self.replacement)
      folder.synchronize()
      try self.finish(in: folder)
    }

    /// Puts a complete replacement in the place of the file, if there is one.
    func finish(in folder: FolderLock?) throws {
      guard let folder, FileManager.default.fileExists(atPath: self.replacement) else { return }
      let aside = self.nameAside
      // The log goes first: with the new file it would change it.
      for suffix in ["-wal", "-shm", ""] where FileManager.default.fileExists(atPath: self.path + suffix) {
        try Self.rename(self.path + suffix, aside + suffix)
      }
      folder.synchronize()
      try Self.rename(self.replacement, self.path)
      folder.synchronize()
    }

    /// The first name that no file has which was set aside before.
    private var nameAside: String {
      let exists = FileManager.default.fileExists(atPath:)
      for number in 1... {
        let name = "\(self.path).damaged-\(number)"
        // A part of this file may have the name already.
        let isFree = ["", "-wal", "-shm"].allSatisfy { !exists(name + $0) || ($0 != "" && !exists(self.path + $0)) }
        if isFree { return name }
      }
      return self.path + ".damaged"
    }

    private func write(_ salvage: Salvage, _ message: String) throws {
      for suffix in ["", "-journal"] { try? FileManager.default.removeItem(atPath: self.draft + suffix) }
      let database = try DatabaseQueue(path: self.draft)
      defer { try? database.close() }
      try database.writeWithoutTransaction { database in
        try FreeSpace.prepare(database)
        try database.execute(sql: "PRAGMA synchronous = FULL")
        try database.inTransaction(.immediate) {
          try DatabaseSchema.migrate(database, from: 0)
          let entries = [salvage.entries, salvage.damaged].joined().map(\.value)
          try EntryTable.apply(entries.map { .put(key: $0.key, value: $0.value) }, in: database)
          // It is stored, so that it is reported also if this process ends before.
          try database.execute(sql: "INSERT INTO report (message) VALUES (?)", arguments: [message])
          return .commit
        }
      }
    }

    private func message(_ salvage: Salvage, _ damage: DatabaseDamage, _ log: WriteAheadLog) -> String {
      var sentences = [
        "\(self.path) is damaged: \(damage.reason). It was set aside as \(self.nameAside).",
        "A new file has the \(salvage.entries.count) entries that can be read.",
      ]
      if !salvage.damaged.isEmpty {
        let keys = salvage.damaged.values.map(\.key).sorted()
        let more = keys.count > 20 ? " and \(keys.count - 20) more" : ""
        sentences.append(
          "\(keys.count) entries cannot be read and are kept as damaged: \(keys.prefix(20).joined(separator: ", "))\(more)."
        )
      }
      for (prefix, count) in salvage.missing.sorted(by: { $0.key < $1.key }) {
        sentences.append("\(count) more entries, with the prefix \"\(prefix)\", are missing.")
      }
      if log.isCut { sentences.append("The newest changes are missing, because the end of its log is.") }
      if log.hasDamagedFrames {
        sentences.append(
          "Changes in its log are damaged, so that entries may be older, and removed ones may be there again."
        )
      }
      if !salvage.isCountKnown {
        sentences.append("How many entries it had cannot be read, so that more may be missing.")
      }
      sentences.append("Check the disk, and keep the damaged file until nothing of it is needed any more.")
      return sentences.joined(separator: " ")
    }

    /// The log of a file, read without SQLite.
    static func log(ofFile path: String, _ file: OpenFile) -> WriteAheadLog {
      let log = OpenFile(path + "-wal").flatMap { $0.read(at: 0, count: $0.size) } ?? []
      let sharedMemory = OpenFile(path + "-shm")?.read(at: 0, count: 136) ?? []
      let pageSize = DatabasePages.size(file.read(at: 0, count: 100) ?? [])
      return WriteAheadLog(log, sharedMemory: sharedMemory, pageSize: pageSize)
    }

    private static func refusal(_ path: String, _ damage: DatabaseDamage) -> StorageError {
      damage.fallback ?? .damaged(path, damage.reason)
    }

    /// Whether the header of a file names this library.
    static func isOfThisLibrary(_ file: OpenFile) -> Bool {
      guard let header = file.read(at: 0, count: 100), header.count == 100 else { return false }
      return DatabaseRecord.number(header, 68) == Int(DatabaseSchema.applicationID)
    }

    private static func rename(_ old: String, _ new: String) throws {
      guard Foundation.rename(old, new) == 0 else {
        throw StorageError(
          code: .readOnly,
          message: "\(old) cannot be renamed to \(new). Make its folder writable for this user.",
          cause: POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        )
      }
    }
  }
#endif
