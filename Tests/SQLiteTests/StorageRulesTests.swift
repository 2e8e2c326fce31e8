#if SwiftOperationSQLite && os(Linux)
  import GRDB
  import OperationPersistenceTesting
  import OperationSQLite
  import Synchronization
  import TestFixtures
  import Testing

  @Suite(.bounded) struct StorageRulesTests {
    @Test func `The storage in a database keeps the rules of storages`() async throws {
      let folder = try Folder.inMemory()
      let count = Atomic(0)
      let reopen: @Sendable (SQLiteStorage) async throws -> SQLiteStorage = { try SQLiteStorage(path: $0.path) }
      let obstruct: @Sendable (SQLiteStorage) async throws -> Void = { storage in
        let queue = try DatabaseQueue(path: storage.path)
        try await queue.write { database in
          try database.execute(
            sql: "CREATE TRIGGER t BEFORE INSERT ON entry WHEN NEW.key = 'c' BEGIN SELECT RAISE(ABORT, 'no'); END"
          )
        }
        try queue.close()
      }
      let refuse: @Sendable (SQLiteStorage, String) async throws -> Void = { storage, key in
        let queue = try DatabaseQueue(path: storage.path)
        try await queue.write { database in
          try database.execute(
            sql: "CREATE TRIGGER r BEFORE INSERT ON entry WHEN NEW.key = '\(key)' BEGIN SELECT RAISE(ABORT, 'no'); END"
          )
        }
        try queue.close()
      }
      try await checkStorage(reopening: reopen, obstructing: obstruct, refusing: refuse) {
        let number = count.add(1, ordering: .relaxed).newValue
        return try SQLiteStorage(path: folder.file("\(number).sqlite"))
      }
    }
  }
#endif
