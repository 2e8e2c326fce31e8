#if SwiftOperationSQLite
  internal import GRDB
  internal import OperationPersistence

  extension StorageError {
    static func notADatabase(_ path: String, _ reason: String, cause: (any Error)?) -> Self {
      Self(
        code: .notADatabase,
        message: """
          \(path) is not used: \(reason). It is left as it is. Move it away, or pass another path.
          """,
        cause: cause
      )
    }

    static func damaged(_ path: String, _ reason: String, cause: (any Error)? = nil) -> Self {
      Self(
        code: .damaged,
        message: """
          \(path) is damaged: \(reason). Close it in all processes that use it, and open it again: it is then set aside, \
          and a new file has all entries that can be read.
          """,
        cause: cause
      )
    }

    /// Runs a body, and translates the errors of SQLite.
    static func translating<R>(_ path: String, _ body: () throws -> R) throws(StorageError) -> R {
      do { return try body() } catch let error as StorageError { throw error } catch { throw Self(error, path) }
    }

    init(_ error: any Error, _ path: String) {
      if let damage = error as? DatabaseDamage {
        self = .damaged(path, damage.reason)
        return
      }
      let failure = error as? DatabaseError
      switch failure?.resultCode {
      case .SQLITE_NOTADB?, .SQLITE_CORRUPT?:
        self = .damaged(path, "a page cannot be read", cause: error)
      case .SQLITE_FULL?,
        .SQLITE_IOERR? where failure?.extendedResultCode == .SQLITE_IOERR_SHMSIZE:
        let room = DiskReserve.room(forFile: path).map { ": its disk has \($0) bytes left" } ?? ""
        self.init(
          code: .full,
          message: """
            There is no room for \(path)\(room). Make room on the disk, or remove entries: at least \(DiskReserve.size) bytes \
            beside the file are kept for that.
            """,
          cause: error
        )
      case .SQLITE_BUSY?, .SQLITE_LOCKED?:
        self.init(
          code: .busy,
          message: "Another process keeps \(path) locked. Pass a longer `busyTimeout`, or end that process.",
          cause: error
        )
      case .SQLITE_READONLY?, .SQLITE_PERM?:
        self.init(
          code: .readOnly,
          message: "\(path) cannot be written. Make the file and its folder writable for this user.",
          cause: error
        )
      case .SQLITE_CANTOPEN?:
        self.init(
          code: .cannotOpen,
          message: "\(path) cannot be opened. Its folder must exist and be writable for this user.",
          cause: error
        )
      default:
        self.init(code: .failed, message: "SQLite has failed with \(path).", cause: error)
      }
    }
  }
#endif
