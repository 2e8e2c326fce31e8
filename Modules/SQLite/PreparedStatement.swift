#if SwiftOperationSQLite
  internal import GRDB
  internal import GRDBSQLite

  /// A statement that its connection keeps prepared, whose arguments are not copied on their way to SQLite.
  ///
  /// GRDB checks and copies the arguments of each use, and makes an object of each row: for a short entry that takes
  /// longer than what SQLite does.
  struct PreparedStatement {
    /// An argument. Its memory has to stay as it is until the use of the statement ends.
    enum Argument {
      case number(Int64)
      case text(UnsafeBufferPointer<UInt8>)
      case bytes(UnsafeBufferPointer<UInt8>)
    }

    /// The first row of a result, while its statement is in use.
    struct Row {
      fileprivate let handle: OpaquePointer

      /// The number in a column; nil if the column has no number, as in a damaged row.
      func number(_ column: CInt) -> Int64? {
        guard sqlite3_column_type(self.handle, column) == SQLITE_INTEGER else { return nil }
        return sqlite3_column_int64(self.handle, column)
      }
    }

    private let database: Database
    /// The connection has it in its cache, and finalizes it.
    private let statement: Statement

    init(_ sql: String, in database: Database) throws {
      self.database = database
      self.statement = try database.cachedStatement(sql: sql)
    }

    /// Runs a statement that has no result.
    func run(_ arguments: Argument...) throws {
      _ = try self.run(arguments) { _ in }
    }

    /// Runs a statement up to its first row.
    ///
    /// - Parameters:
    ///   - arguments: The arguments, in order.
    ///   - body: Reads the row.
    /// - Returns: What `body` has returned; nil if there is no row.
    /// - Throws: An error of SQLite.
    func firstRow<R>(_ arguments: Argument..., read body: (Row) -> R) throws -> R? {
      try self.run(arguments, body)
    }

    private func run<R>(_ arguments: [Argument], _ body: (Row) -> R) throws -> R? {
      let handle = self.statement.sqliteStatement
      defer {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
      }
      for (index, argument) in zip(CInt(1)..., arguments) {
        let code = Self.bind(argument, to: handle, at: index)
        if code != SQLITE_OK { throw self.error(code) }
      }
      let code = sqlite3_step(handle)
      switch code {
      case SQLITE_ROW: return body(Row(handle: handle))
      case SQLITE_DONE: return nil
      default: throw self.error(code)
      }
    }

    private static func bind(_ argument: Argument, to handle: OpaquePointer, at index: CInt) -> CInt {
      // Without a destructor SQLite does not copy. A missing address would be no value, rather than an empty one.
      switch argument {
      case .number(let number): return sqlite3_bind_int64(handle, index, number)
      case .text(let text):
        return text.withMemoryRebound(to: CChar.self) { text in
          guard let address = text.baseAddress else { return sqlite3_bind_text(handle, index, "", 0, Self.copied) }
          return sqlite3_bind_text64(handle, index, address, UInt64(text.count), nil, UInt8(SQLITE_UTF8))
        }
      case .bytes(let bytes):
        guard let address = bytes.baseAddress else { return sqlite3_bind_zeroblob(handle, index, 0) }
        return sqlite3_bind_blob64(handle, index, address, UInt64(bytes.count), nil)
      }
    }

    /// `SQLITE_TRANSIENT`, which is not imported.
    // SQLite defines it as this bit pattern, and calls no such function.
    private static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

    private func error(_ code: CInt) -> DatabaseError {
      DatabaseError(
        resultCode: ResultCode(rawValue: code),
        message: String(cString: sqlite3_errmsg(self.database.sqliteConnection)),
        sql: self.statement.sql
      )
    }
  }
#endif
