#if SwiftOperationSQLite
  internal import Dispatch
  internal import GRDBSQLite

  #if canImport(Glibc)
    internal import Glibc
  #endif

  /// A bare database that tasks may use: it blocks a thread of its own.
  final class QueuedDatabase: @unchecked Sendable {
    // Used on the queue alone.
    private let database: BareDatabase
    private let queue = DispatchQueue(label: "bare")

    init(_ database: sending BareDatabase) { self.database = database }

    func write(_ numbers: Range<Int>, _ value: [UInt8]) async throws {
      try await self.perform { try $0.write(numbers, value) }
    }

    /// Removes an entry without waiting for the disk.
    func remove(_ number: Int) async throws { try await self.perform { try $0.remove(number) } }

    private func perform(_ body: @escaping @Sendable (BareDatabase) throws -> Void) async throws {
      let result = await withUnsafeContinuation { continuation in
        self.queue.async { continuation.resume(returning: Result { try body(self.database) }) }
      }
      try result.get()
    }
  }

  /// A database with one table, and the settings of `SQLiteStorage`.
  final class BareDatabase {
    struct Failure: Error {
      let message: String
    }

    private let path: String
    private var connection: OpaquePointer?
    private var insert: OpaquePointer?
    private var delete: OpaquePointer?

    init() throws {
      self.path = "/tmp/swift-operation-bare-\(UInt64.random(in: 0 ... .max)).sqlite"
      try self.check(sqlite3_open(self.path, &self.connection))
      for statement in [
        "PRAGMA auto_vacuum = INCREMENTAL", "PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL",
        "PRAGMA secure_delete = ON", "CREATE TABLE entry (key TEXT NOT NULL PRIMARY KEY, value BLOB NOT NULL)",
      ] { try self.execute(statement) }
      let sql = "INSERT OR REPLACE INTO entry (key, value) VALUES (?, ?)"
      try self.check(sqlite3_prepare_v2(self.connection, sql, -1, &self.insert, nil))
      try self.check(sqlite3_prepare_v2(self.connection, "DELETE FROM entry WHERE key = ?", -1, &self.delete, nil))
    }

    deinit {
      sqlite3_finalize(self.insert)
      sqlite3_finalize(self.delete)
      sqlite3_close(self.connection)
      for suffix in ["", "-wal", "-shm"] { unlink(self.path + suffix) }
    }

    /// Puts entries in one transaction.
    func write(_ numbers: Range<Int>, _ value: [UInt8]) throws {
      try self.execute("BEGIN IMMEDIATE")
      // SQLITE_TRANSIENT, which is not imported.
      let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
      for number in numbers {
        try self.check(sqlite3_bind_text(self.insert, 1, "entry/\(number)", -1, copied))
        try self.check(sqlite3_bind_blob(self.insert, 2, value, Int32(value.count), copied))
        try self.check(sqlite3_step(self.insert), SQLITE_DONE)
        try self.check(sqlite3_reset(self.insert))
      }
      try self.execute("COMMIT")
    }

    /// Removes an entry, without waiting for the disk.
    func remove(_ number: Int) throws {
      try self.execute("PRAGMA synchronous = NORMAL")
      try self.execute("BEGIN IMMEDIATE")
      // SQLITE_TRANSIENT, which is not imported.
      let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
      try self.check(sqlite3_bind_text(self.delete, 1, "entry/\(number)", -1, copied))
      try self.check(sqlite3_step(self.delete), SQLITE_DONE)
      try self.check(sqlite3_reset(self.delete))
      try self.execute("COMMIT")
      try self.execute("PRAGMA synchronous = FULL")
    }

    private func execute(_ statement: String) throws {
      try self.check(sqlite3_exec(self.connection, statement, nil, nil, nil))
    }

    private func check(_ code: Int32, _ expected: Int32 = SQLITE_OK) throws {
      if code != expected { throw Failure(message: String(cString: sqlite3_errmsg(self.connection))) }
    }
  }
#endif
