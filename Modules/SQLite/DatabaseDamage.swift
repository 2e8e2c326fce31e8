#if SwiftOperationSQLite
  internal import GRDB
  internal import OperationPersistence

  /// A file that cannot be used as it is, perhaps because it is damaged.
  struct DatabaseDamage: Error {
    let reason: String
    /// The error if the file turns out to be none of this library.
    var fallback: StorageError?

    init(reason: String, fallback: StorageError? = nil) {
      self.reason = reason
      self.fallback = fallback
    }

    /// The damage that an error of SQLite shows; nil if it shows something else, such as a full disk.
    init?(_ error: any Error, _ path: String) {
      guard let error = error as? DatabaseError else { return nil }
      switch error.resultCode {
      case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR, .SQLITE_FORMAT, .SQLITE_CONSTRAINT, .SQLITE_MISMATCH: break
      case .SQLITE_IOERR where [.SQLITE_IOERR_READ, .SQLITE_IOERR_SHORT_READ].contains(error.extendedResultCode): break
      default: return nil
      }
      let text = "\(error.extendedResultCode.rawValue): \(error.message ?? "it cannot be read")"
      self.init(
        reason: "SQLite has failed with \(text)",
        fallback: .notADatabase(path, "it is damaged, or no SQLite database", cause: error)
      )
    }
  }
#endif
