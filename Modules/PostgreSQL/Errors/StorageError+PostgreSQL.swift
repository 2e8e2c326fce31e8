#if SwiftOperationPostgreSQL
  internal import OperationPersistence

  extension StorageError {
    /// The error of a storage for an error of the server.
    init(_ error: PostgreSQLError) {
      let code: Code =
        switch error.code {
        case .closed: .closed
        case .invalidConnection, .unavailable: .cannotOpen
        case .busy, .timedOut, .conflict: .busy
        case .noRights, .readOnly: .readOnly
        case .full: .full
        case .newerSchema: .newerSchema
        default: .failed
        }
      self.init(code: code, message: error.message, cause: error)
    }

    /// Returns what `body` returns, and throws the error of a storage for its error.
    static func translating<R>(_ body: () throws(PostgreSQLError) -> R) throws(StorageError) -> R {
      do throws(PostgreSQLError) { return try body() } catch { throw StorageError(error) }
    }
  }
#endif
