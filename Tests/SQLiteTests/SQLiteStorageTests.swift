#if SwiftOperationSQLite && os(Linux)
  import Foundation
  import GRDB
  import OperationCore
  import OperationPersistence
  import OperationSQLite
  import OperationTesting
  import SubjectFixtures
  import TestFixtures
  import Testing

  @Suite(.bounded) struct SQLiteStorageTests {
    private let folder: Folder

    init() throws {
      self.folder = try Folder()
    }

    @Test func `What was written is there after closing and opening`() async throws {
      let storage = try SQLiteStorage(path: self.folder.file())
      try await storage.apply([.put(key: "b", value: []), .put(key: "a", value: [0, 255]), .put(key: "c", value: [1])])
      try await storage.apply([.remove(key: "c"), .put(key: "a", value: [7]), .remove(key: "none")])
      await storage.close()
      let again = try SQLiteStorage(path: self.folder.file())
      try await expect(
        again.entries(withPrefix: ""),
        equals: [
          StorageEntry(key: "a", value: [7]), StorageEntry(key: "b", value: []),
        ]
      )
      await again.close()
    }

    /// How often a text is in the files of the folder.
    private func count(of text: String) throws -> Int {
      try self.folder.files.map { name in
        String(decoding: try self.folder.read(name), as: UTF8.self).components(separatedBy: text).count - 1
      }.reduce(0, +)
    }

    @Test func `Nothing of what was removed is left in the file or in its log after overwriting it`() async throws {
      let storage = try SQLiteStorage(path: self.folder.file())
      for number in 0..<50 { try await storage.put("key\(number)", "secret of Alice") }
      try await storage.apply((0..<50).map { .remove(key: "key\($0)") })
      #expect(try self.count(of: "secret of Alice") > 0)
      try await storage.overwriteRemovedEntries()
      try expect(self.count(of: "secret of Alice"), equals: 0)
      #expect(try self.folder.read("state.sqlite-wal").isEmpty)
      try await storage.put("later", "text")
      try await expect(storage.keys(), equals: ["later"])
      await storage.close()
      await #expect(throws: StorageError.self) { try await storage.overwriteRemovedEntries() }
    }

    @Test(arguments: [false, true])
    func `Nothing is left after a user was forgotten, whether there is a journal or not`(
      hasJournal: Bool
    ) async throws {
      let storage = try SQLiteStorage(path: self.folder.file())
      let client = OperationClient()
      client.defaultContext.operationStorage = storage
      let stores = (0..<50).map { number in
        client.store(for: ValueQuery(number: number).persisted(as: "text"))
      }
      for store in stores { store.currentValue = "secret of Alice" }
      #expect(await client.persistence.flush())
      #expect(try self.count(of: "secret of Alice") > 0)
      if hasJournal { try await client.journal.load() }
      try await client.clearEverything()
      try expect(self.count(of: "secret of Alice"), equals: 0)
      await storage.close()
    }

    @Test func `Nothing is left in clear once a storage is sealed`() async throws {
      let base = try SQLiteStorage(path: self.folder.file())
      for number in 0..<50 { try await base.put("key\(number)", "secret of Alice") }
      let storage = SealedStorage(base, key: TestKey(1))
      try await expect(storage.sealUnsealedEntries(), equals: 50)
      try expect(self.count(of: "secret of Alice"), equals: 0)
      try await expect(storage.keys().count, equals: 50)
      await storage.close()
    }

    @Test(arguments: [Duration.seconds(30 * 86_400), .seconds(Int64.max), Duration(attoseconds: .max), .seconds(-1)])
    func `Any time can be waited for other processes`(busyTimeout: Duration) async throws {
      let storage = try SQLiteStorage(path: self.folder.file(), busyTimeout: busyTimeout)
      try await storage.put("key", "text")
      await storage.close()
    }

    @Test func `Overwriting does not wait for those who write without a pause`() async throws {
      let storage = try SQLiteStorage(path: self.folder.file())
      let ends = Counter()
      try await withThrowingTaskGroup { group in
        for task in 0..<4 {
          group.addTask { while ends.value == 0 { try await storage.put("key\(task)", "text") } }
        }
        for _ in 0..<10 { try await storage.overwriteRemovedEntries() }
        ends.increment()
        try await group.waitForAll()
      }
      await storage.close()
    }

    @Test func `Another process that reads prevents overwriting, which says so`() async throws {
      let storage = try SQLiteStorage(path: self.folder.file(), busyTimeout: .milliseconds(1))
      try await storage.put("key", "secret of Alice")
      var configuration = Configuration()
      configuration.allowsUnsafeTransactions = true
      let reader = try DatabaseQueue(path: self.folder.file(), configuration: configuration)
      try reader.inDatabase { database in
        try database.execute(sql: "BEGIN")
        _ = try Int.fetchOne(database, sql: "SELECT count(*) FROM entry")
      }
      try await storage.apply([.remove(key: "key")])
      await #expect { try await storage.overwriteRemovedEntries() } throws: { ($0 as? StorageError)?.code == .busy }
      try reader.inDatabase { try $0.execute(sql: "COMMIT") }
      try await storage.overwriteRemovedEntries()
      try expect(self.count(of: "secret of Alice"), equals: 0)
      await storage.close()
    }

    @Test(arguments: ["rename", "remove", "replace"])
    func `A file that is no longer at its path takes no entry, and can be moved back`(what: String) async throws {
      let path = self.folder.file()
      let storage = try SQLiteStorage(path: path)
      try await storage.put("a", "1")
      let place = self.folder.file("elsewhere")
      switch what {
      case "rename": try FileManager.default.moveItem(atPath: path, toPath: place)
      case "remove":
        try FileManager.default.linkItem(atPath: path, toPath: place)
        try FileManager.default.removeItem(atPath: path)
      default:
        try FileManager.default.moveItem(atPath: path, toPath: place)
        try Data("other".utf8).write(to: URL(fileURLWithPath: path))
      }
      for _ in 0..<2 {
        let error = await #expect(throws: StorageError.self) { try await storage.put("b", "2") }
        expect(error?.code, equals: .moved)
        expect(error?.message.contains(path), equals: true)
      }
      if what == "replace" { try FileManager.default.removeItem(atPath: path) }
      try FileManager.default.moveItem(atPath: place, toPath: path)
      try await storage.put("c", "3")
      try await expect(storage.keys(), equals: ["a", "c"])
      await storage.close()
    }

    @Test func `Prefixes and order are those of the storage in memory`() async throws {
      let (storage, model) = (try SQLiteStorage(path: self.folder.file()), InMemoryStorage())
      let keys = ["", "a", "a/", "a/1", "a/10", "a/2", "a0", "A", "b", "a%", "a_", "é", "\u{10FFFF}", "~"]
      for storage in [storage, model] as [any PersistentStorage] {
        try await storage.apply(keys.map { .put(key: $0, value: Array($0.utf8)) })
      }
      for prefix in keys + ["a/1/", "zz", "%", "_"] {
        try await expect(storage.entries(withPrefix: prefix), equals: model.entries(withPrefix: prefix), "\(prefix)")
      }
      await storage.close()
    }

    @Test func `A closed storage refuses everything, and may be closed again`() async throws {
      let storage = try SQLiteStorage(path: self.folder.file())
      await storage.close()
      await storage.close()
      await #expect { try await storage.keys() } throws: { ($0 as? StorageError)?.code == .closed }
      await #expect { try await storage.put("a", "b") } throws: { ($0 as? StorageError)?.code == .closed }
    }

    @Test func `Closing waits for what is being written`() async throws {
      let storage = try SQLiteStorage(path: self.folder.file())
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<200 { group.addTask { try? await storage.put("\(number)", "x") } }
        group.addTask { await storage.close() }
      }
      let again = try SQLiteStorage(path: self.folder.file())
      let keys = try await again.keys()
      #expect(keys.count <= 200)
      await again.close()
    }

    @Test func `Batches that come at once are committed together, and each fails by itself`() async throws {
      let storage = try SQLiteStorage(path: self.folder.file())
      try await DatabaseQueue(path: self.folder.file()).write { database in
        try database.execute(
          sql: "CREATE TRIGGER t BEFORE INSERT ON entry WHEN NEW.key LIKE 'bad%' BEGIN SELECT RAISE(ABORT, 'no'); END"
        )
      }
      let failures = await withTaskGroup(of: Bool.self) { group in
        for number in 0..<500 {
          group.addTask {
            let name = number % 50 == 7 ? "bad" : "good"
            let batch: [StorageChange] = [
              .put(key: "x\(number)", value: [1]), .put(key: "\(name)\(number)", value: [2]),
            ]
            return (try? await storage.apply(batch)) == nil
          }
        }
        return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
      expect(failures, equals: 10)
      try await expect(storage.keys("good").count, equals: 490)
      try await expect(storage.keys("x").count, equals: 490)
      #expect(try await storage.keys("bad").isEmpty)
      await storage.close()
    }

    @Test func `An older schema is migrated with its entries`() async throws {
      try self.makeVersion1(entries: ["value/a": "1", "journal/1": "2"])
      let storage = try SQLiteStorage(path: self.folder.file())
      try await expect(
        storage.entries(withPrefix: ""),
        equals: [
          StorageEntry(key: "journal/1", value: Array("2".utf8)), StorageEntry(key: "value/a", value: Array("1".utf8)),
        ]
      )
      try await storage.put("b", "3")
      await storage.close()
      let again = try SQLiteStorage(path: self.folder.file())
      try await expect(again.keys(), equals: ["b", "journal/1", "value/a"])
      await again.close()
    }

    @Test func `A newer schema is refused, and left as it is`() async throws {
      let storage = try SQLiteStorage(path: self.folder.file())
      try await storage.put("a", "b")
      await storage.close()
      let queue = try DatabaseQueue(path: self.folder.file())
      try await queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA user_version = 5") }
      try queue.close()
      let before = try self.folder.read()
      expectRefusal(.newerSchema, of: self.folder.file())
      try expect(self.folder.read(), equals: before)
    }

    @Test func `A database of another program is refused, and left as it is`() async throws {
      let queue = try DatabaseQueue(path: self.folder.file())
      try await queue.write { try $0.execute(sql: "CREATE TABLE entry (name TEXT)") }
      try queue.close()
      let before = try self.folder.read()
      expectRefusal(.notADatabase, of: self.folder.file())
      try expect(self.folder.read(), equals: before)
      try expect(self.folder.files, equals: ["state.sqlite"])
    }

    @Test(arguments: [
      "x", "not a database at all", "SQLite format 2\0 and so on", String(repeating: "\0", count: 5_000),
    ])
    func `A file that is no database is refused, and left as it is`(text: String) async throws {
      try self.folder.write(Data(text.utf8))
      expectRefusal(.notADatabase, of: self.folder.file())
      try expect(self.folder.read(), equals: Data(text.utf8))
      try expect(self.folder.files, equals: ["state.sqlite"])
    }

    @Test func `An empty file becomes a database`() async throws {
      try self.folder.write(Data())
      let storage = try SQLiteStorage(path: self.folder.file())
      try await storage.put("a", "b")
      try await expect(storage.keys(), equals: ["a"])
      await storage.close()
    }

    @Test func `A header with nothing behind it is refused`() async throws {
      try self.folder.write(Data("SQLite format 3\0".utf8))
      expectRefusal(.notADatabase, of: self.folder.file())
      try expect(self.folder.read(), equals: Data("SQLite format 3\0".utf8))
    }

    @Test func `A folder that is missing is refused`() {
      expectRefusal(.cannotOpen, of: self.folder.file("missing/state.sqlite"))
      expectRefusal(.cannotOpen, of: self.folder.path)
    }

    /// Creates a database with the schema of version 1.
    private func makeVersion1(entries: [String: String]) throws {
      let queue = try DatabaseQueue(path: self.folder.file())
      try queue.writeWithoutTransaction { database in
        try database.execute(
          sql: """
            CREATE TABLE entry (key TEXT NOT NULL PRIMARY KEY, value BLOB NOT NULL);
            PRAGMA application_id = 1397706835;
            PRAGMA user_version = 1;
            """
        )
        for (key, value) in entries {
          try database.execute(
            sql: "INSERT INTO entry (key, value) VALUES (?, ?)",
            arguments: [key, Data(value.utf8)]
          )
        }
      }
      try queue.close()
    }
  }
#endif
