internal import OperationPersistence

#if SwiftOperationSQLite
  internal import GRDBSQLite
  internal import OperationSQLite

  #if canImport(Glibc)
    internal import Glibc
  #endif
#endif

extension Benchmark {
  /// The cost of a durable write of one, of several and of many callers, beside that of bare SQLite with the same
  /// settings, which writes as many entries in each transaction. None without the trait `SwiftOperationSQLite`.
  static func durableWrites(isShort: Bool) async throws -> [Row] {
    #if SwiftOperationSQLite
      let section = "a durable write"
      let count = isShort ? 128 : 1_024
      let value = [UInt8](repeating: 7, count: 200)
      var rows: [Row] = []
      for callers in [1, 8, 64] {
        var (bare, own) = (Double.infinity, Double.infinity)
        for _ in 0..<(isShort ? 2 : 9) {
          let database = try BareDatabase()
          bare = min(
            bare,
            try await microseconds {
              for round in 0..<count / callers { try database.write(round * callers..<(round + 1) * callers, value) }
            }
          )
          let place = try StoragePlace()
          let storage = place.storage
          own = min(
            own,
            try await microseconds {
              try await withThrowingTaskGroup { group in
                for caller in 0..<callers {
                  group.addTask {
                    for round in 0..<count / callers {
                      try await storage.apply([.put(key: "entry/\(round * callers + caller)", value: value)])
                    }
                  }
                }
                try await group.waitForAll()
              }
            }
          )
          await place.close()
        }
        let name = callers == 1 ? "1 caller" : "\(callers) callers"
        rows.append(.time(section, "\(name), bare SQLite", bare / Double(count)))
        rows.append(.time(section, name, own / Double(count)))
        rows.append(
          Row(
            section: section,
            name: "\(name), over bare SQLite",
            value: own / bare,
            unit: .times,
            bar: Row.Limit(.atMost, 1.3)
          )
        )
      }
      return rows
    #else
      return []
    #endif
  }
}

#if SwiftOperationSQLite
  /// A database with one table, and the settings of `SQLiteStorage`.
  private final class BareDatabase {
    struct Failure: Error {
      let message: String
    }

    private let path: String
    private var connection: OpaquePointer?
    private var insert: OpaquePointer?

    init() throws {
      self.path = "/tmp/swift-operation-bare-\(UInt64.random(in: 0 ... .max)).sqlite"
      try self.check(sqlite3_open(self.path, &self.connection))
      for statement in [
        "PRAGMA auto_vacuum = INCREMENTAL", "PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL",
        "PRAGMA secure_delete = ON", "CREATE TABLE entry (key TEXT NOT NULL PRIMARY KEY, value BLOB NOT NULL)",
      ] { try self.execute(statement) }
      let sql = "INSERT OR REPLACE INTO entry (key, value) VALUES (?, ?)"
      try self.check(sqlite3_prepare_v2(self.connection, sql, -1, &self.insert, nil))
    }

    deinit {
      sqlite3_finalize(self.insert)
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

    private func execute(_ statement: String) throws {
      try self.check(sqlite3_exec(self.connection, statement, nil, nil, nil))
    }

    private func check(_ code: Int32, _ expected: Int32 = SQLITE_OK) throws {
      if code != expected { throw Failure(message: String(cString: sqlite3_errmsg(self.connection))) }
    }
  }
#endif
