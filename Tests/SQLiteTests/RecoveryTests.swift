#if SwiftOperationSQLite && os(Linux)
  import Foundation
  import GRDB
  import OperationCore
  import OperationMutation
  import OperationPersistence
  import TestFixtures
  import Testing

  @testable import OperationSQLite

  @Suite(.bounded) struct RecoveryTests {
    private let folder: Folder

    init() throws {
      self.folder = try Folder.inMemory()
    }

    private var files: [String] {
      get throws { try self.folder.files.sorted() }
    }

    /// The files without logs and their indices, which a file that was set aside may have.
    private var databases: [String] {
      get throws { try self.files.filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") } }
    }

    /// Makes a database of 200 entries, and damages one of its pages.
    private func makeDamagedFile() async throws {
      let storage = try SQLiteStorage(path: self.folder.file())
      try await storage.apply(
        (100..<300).map { .put(key: "journal/\($0)", value: [UInt8](repeating: 65, count: 200)) }
      )
      await storage.close()
      try self.damage()
    }

    private func damage() throws {
      var bytes = try self.folder.read()
      let page = try #require(
        stride(from: 4_096, to: bytes.count, by: 4_096).first { bytes[$0] == 13 && bytes[$0 + 4] > 5 }
      )
      for place in page..<page + 8 { bytes[place] = 0xFF }
      try self.folder.write(bytes)
    }

    @Test func `One bad page refuses no new call, and the sound entries are there`() async throws {
      try await self.makeDamagedFile()
      let damaged = try self.folder.read()
      let (storage, warnings) = try openReporting(self.folder.file())
      // Also the rows of the damaged page are found, by their checksums.
      try await expect(storage.keys("journal/").count, equals: 200)
      #expect(try await storage.entries(withPrefix: "").allSatisfy { $0.value.count == 200 })
      try await storage.put("journal/new", "new")
      await storage.close()
      let warning = try #require(warnings.first)
      expect(warnings.count, equals: 1)
      expect(warning.code, equals: .storageDamaged)
      expect(warning.severity, equals: .failure)
      #expect(warning.message.contains(self.folder.file() + " is damaged"))
      #expect(warning.message.contains(self.folder.file("state.sqlite.damaged-1")))
      try expect(self.databases, equals: ["state.sqlite", "state.sqlite.damaged-1"])
      try expect(self.folder.read("state.sqlite.damaged-1"), equals: damaged)
    }

    @Test func `A damaged change in the log is reported, as entries may be older`() async throws {
      let storage = try SQLiteStorage(path: self.folder.file())
      for number in 0..<8 { try await storage.put("note/\(number)", "text") }
      // As a killed process leaves it.
      let killed = try Folder.inMemory()
      for name in try self.files { try killed.write(try self.folder.read(name), to: name) }
      await storage.close()
      var log = try killed.read("state.sqlite-wal")
      let frame = 32 + 4 * (24 + 4_096)
      for place in frame + 24..<frame + 24 + 4_096 { log[place] ^= 0xFF }
      try killed.write(log, to: "state.sqlite-wal")
      let (recovered, warnings) = try openReporting(killed.file())
      await recovered.close()
      expect(warnings.map(\.code), equals: [.storageDamaged])
      expect(warnings.first?.message.contains("entries may be older"), equals: true)
    }

    @Test func `A damaged lease is found when the file is opened, not when it is needed`() async throws {
      let storage = try SQLiteStorage(path: self.folder.file())
      try await storage.put("note", "text")
      try await expect(storage.acquireLease("journal", owner: "me", for: .seconds(5)), equals: .held)
      await storage.close()
      let queue = try DatabaseQueue(path: self.folder.file())
      let root = "SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_autoindex_lease_1'"
      let page = try #require(try await queue.read { try Int.fetchOne($0, sql: root) })
      try queue.close()
      // An index without its row: a page of its kind that has no cells, and whose content begins at its end.
      var bytes = try self.folder.read()
      let start = (page - 1) * 4_096
      expect(bytes[start], equals: 10)
      for (place, byte) in [0, 0, 0, 0, 0x10, 0, 0].enumerated() { bytes[start + 1 + place] = UInt8(byte) }
      try self.folder.write(bytes)
      let (recovered, warnings) = try openReporting(self.folder.file())
      expect(warnings.map(\.code), equals: [.storageDamaged])
      try await expect(recovered.acquireLease("journal", owner: "other", for: .seconds(5)), equals: .held)
      try await expect(recovered.keys("note"), equals: ["note"])
      await recovered.close()
    }

    @Test func `A file that was set aside is not overwritten, and its log goes with it`() async throws {
      try await self.makeDamagedFile()
      try self.folder.write(Data("mine".utf8), to: "state.sqlite.damaged-1")
      try self.folder.write(Data("a log".utf8), to: "state.sqlite-wal")
      let (storage, warnings) = try openReporting(self.folder.file())
      await storage.close()
      expect(warnings.first?.message.contains("state.sqlite.damaged-2."), equals: true)
      try self.damage()
      let (second, later) = try openReporting(self.folder.file())
      await second.close()
      expect(later.first?.message.contains("state.sqlite.damaged-3."), equals: true)
      try expect(self.folder.read("state.sqlite.damaged-1"), equals: Data("mine".utf8))
      try expect(
        self.databases,
        equals: [
          "state.sqlite", "state.sqlite.damaged-1", "state.sqlite.damaged-2", "state.sqlite.damaged-3",
        ]
      )
    }

    @Test(arguments: ["wal", "shm", "file", "replacement"])
    func `A replacement that was interrupted is continued`(last: String) async throws {
      try await self.makeDamagedFile()
      try self.folder.write(Data(), to: "state.sqlite-wal")
      try self.folder.write(Data(), to: "state.sqlite-shm")
      // The state after each of the steps, as a process leaves it that is killed there.
      let done = try Folder.inMemory()
      try done.write(try self.folder.read())
      let complete = try SQLiteStorage(path: done.file())
      try await complete.database.write { try $0.execute(sql: "INSERT INTO report (message) VALUES ('it was')") }
      await complete.close()
      try self.folder.write(try done.read(), to: "state.sqlite.recovered")
      func rename(_ suffix: String) throws {
        try FileManager.default.moveItem(
          atPath: self.folder.file("state.sqlite\(suffix)"),
          toPath: self.folder.file("state.sqlite.damaged-1\(suffix)")
        )
      }
      if last != "replacement" { try rename("-wal") }
      if last == "shm" || last == "file" { try rename("-shm") }
      if last == "file" { try rename("") }
      let (storage, warnings) = try openReporting(self.folder.file())
      expect(warnings.map(\.message), equals: ["it was"])
      try await expect(storage.keys().count, equals: 200)
      await storage.close()
      try expect(
        self.files,
        equals: [
          "state.sqlite", "state.sqlite.damaged-1", "state.sqlite.damaged-1-shm", "state.sqlite.damaged-1-wal",
        ]
      )
      let (again, later) = try openReporting(self.folder.file())
      #expect(later.isEmpty)
      await again.close()
    }

    @Test func `A replacement that is not complete is made again`() async throws {
      try await self.makeDamagedFile()
      try self.folder.write(Data("half".utf8), to: "state.sqlite.recovering")
      try self.folder.write(Data("half".utf8), to: "state.sqlite.recovering-journal")
      let (storage, warnings) = try openReporting(self.folder.file())
      expect(warnings.count, equals: 1)
      try await expect(storage.keys().count, equals: 200)
      await storage.close()
      try expect(self.databases, equals: ["state.sqlite", "state.sqlite.damaged-1"])
    }

    @Test func `A damaged file that is open elsewhere is not replaced`() async throws {
      let storage = try SQLiteStorage(path: self.folder.file())
      try await storage.apply((100..<300).map { .put(key: "\($0)", value: [UInt8](repeating: 65, count: 200)) })
      try await storage.database.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
      try self.overwriteInPlace()
      let error = #expect(throws: StorageError.self) {
        try SQLiteStorage(path: self.folder.file(), busyTimeout: .milliseconds(50))
      }
      expect(error?.code, equals: .damaged, "\(String(describing: error))")
      expect(error?.message.contains("open it again"), equals: true)
      await storage.close()
      let (again, warnings) = try openReporting(self.folder.file())
      expect(warnings.map(\.code), equals: [.storageDamaged])
      try await expect(again.keys().count, equals: 200)
      await again.close()
    }

    @Test func `Damage of an open file is an error with the remedy`() async throws {
      let storage = try SQLiteStorage(path: self.folder.file())
      try await storage.apply((100..<300).map { .put(key: "journal/\($0)", value: [1]) })
      // Something else has removed a row.
      try await storage.database.write { try $0.execute(sql: "DELETE FROM entry WHERE key = 'journal/150'") }
      for prefix in ["journal/", ""] {
        let error = await #expect(throws: StorageError.self) { try await storage.entries(withPrefix: prefix) }
        expect(error?.code, equals: .damaged)
        expect(error?.message.contains("200 entries of \"\(prefix)\" were stored, and 199 are found"), equals: true)
      }
      await storage.close()
      let (again, warnings) = try openReporting(self.folder.file())
      expect(
        warnings.first?.message.contains("1 more entries, with the prefix \"journal/\", are missing"),
        equals: true
      )
      try await expect(again.keys("journal/").count, equals: 199)
      await again.close()
    }

    @Test func `A second storage of a process keeps the locks of the first one`() async throws {
      let storage = try SQLiteStorage(path: self.folder.file())
      try await storage.put("a", "1")
      let second = try SQLiteStorage(path: self.folder.file())
      await second.close()
      // Another process is not the last one that closes the file, so it leaves the log.
      let result = try await runSubject("writes", self.folder.file(), "other", "3")
      expect(result.output, equals: "done")
      #expect(try self.files.contains("state.sqlite-wal"))
      try await storage.put("b", "2")
      await storage.close()
      let (again, warnings) = try openReporting(self.folder.file())
      #expect(warnings.isEmpty)
      try await expect(again.keys(), equals: ["a", "b", "other/0", "other/1", "other/2", "other/last"])
      await again.close()
    }

    @Test func `A journal finds each call of a damaged file, as pending or as unreadable`() async throws {
      let ids = try await self.makeJournal(count: 100)
      let sound = try self.folder.read()
      var random = SeededGenerator(seed: 11)
      for number in 0..<12 {
        var bytes = sound
        // The bytes of rows, which are most of the file.
        bytes[Int.random(in: 4_096..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        let copy = try Folder.inMemory()
        try copy.write(bytes)
        let warnings = Locked<[OperationWarning]>([])
        let reporter: OperationWarning.Reporter = { warning in warnings.withLock { $0.append(warning) } }
        let entries = try await OperationWarning.withReporter(reporter) {
          let storage = try SQLiteStorage(path: copy.file())
          let journal = MutationJournal(storage: storage)
          try await journal.load()
          let entries = journal.entries
          await storage.close()
          return entries
        }
        expect(entries.count, equals: 100, "\(number): \(warnings.withLock { $0 })")
        let unreadable = entries.filter { $0.status == .unreadable }
        #expect(unreadable.count <= 1)
        expect(Set(entries.map(\.id)).intersection(ids).count, equals: 100 - unreadable.count)
        let reported = warnings.withLock { $0.filter { $0.code == .journalEntryUnreadable }.count }
        expect(reported, equals: unreadable.count)
      }
    }

    /// Makes a database with calls of a journal that were accepted and are to be made.
    private func makeJournal(count: Int) async throws -> Set<String> {
      let storage = try SQLiteStorage(path: self.folder.file())
      let journal = MutationJournal(storage: storage)
      for number in 0..<count {
        let mutation = FailingMutation().journaled(as: "failing", in: journal, failsForGood: .where { _ in false })
        _ = try? await OperationStore.detached(mutation: mutation).mutate(with: "\(number)")
      }
      let ids = Set(journal.entries.map(\.id))
      try #require(ids.count == count)
      await storage.close()
      return ids
    }

    @Test func `A key with a null character is refused`() async throws {
      let storage = try SQLiteStorage(path: self.folder.file())
      await #expect(throws: StorageError.self) { try await storage.put("a\0b", "1") }
      #expect(try await storage.keys().isEmpty)
      await storage.close()
    }

    @Test(arguments: [2, 3])
    func `A schema with one tree is migrated, and what is damaged stays so`(version: Int) async throws {
      let queue = try DatabaseQueue(path: self.folder.file())
      try await queue.writeWithoutTransaction { database in
        try database.execute(
          sql: """
            CREATE TABLE entry (
              key TEXT NOT NULL PRIMARY KEY, value BLOB NOT NULL, checksum INTEGER NOT NULL
            ) WITHOUT ROWID;
            PRAGMA application_id = 1397706835;
            PRAGMA user_version = \(version);
            """
        )
        for (key, value) in [("journal/1", [7]), ("value/a", [8, 9]), ("value/b", [10])] as [(String, [UInt8])] {
          let checksum = version == 2 ? EntryTable.checksum(of: value) : EntryTable.checksum(of: value, at: key)
          try database.execute(
            sql: "INSERT INTO entry VALUES (?, ?, ?)",
            arguments: [key, Data(value), key == "value/b" ? checksum &+ 1 : checksum]
          )
        }
      }
      try queue.close()
      let (storage, warnings) = try openReporting(self.folder.file())
      #expect(warnings.isEmpty)
      try await expect(
        storage.entries(withPrefix: ""),
        equals: [
          StorageEntry(key: "journal/1", value: [7]), StorageEntry(key: "value/a", value: [8, 9]),
          StorageEntry(key: "value/b", value: [0, 10]),
        ]
      )
      try await expect(storage.acquireLease("a", owner: "b", for: .seconds(1)), equals: .held)
      await storage.close()
      let (again, later) = try openReporting(self.folder.file())
      #expect(later.isEmpty)
      try await expect(again.keys().count, equals: 3)
      await again.close()
    }

    /// Damages the file without replacing it, as a disk does.
    private func overwriteInPlace() throws {
      let bytes = try self.folder.read()
      let page = try #require(
        stride(from: 4_096, to: bytes.count, by: 4_096).first { bytes[$0] == 13 && bytes[$0 + 4] > 5 }
      )
      // Another process writes: closing the file in this one would end the locks of SQLite.
      #expect(
        run(
          "/bin/dd",
          "if=/dev/zero",
          "of=\(self.folder.file())",
          "bs=1",
          "seek=\(page)",
          "count=8",
          "conv=notrunc"
        )
      )
    }
  }

  private struct FailingMutation: MutationRequest {
    struct IsDown: Error {}

    let path: OperationPath = ["failing"]

    func mutate(
      isolation: isolated (any Actor)?,
      with arguments: String,
      in context: OperationContext,
      with continuation: OperationContinuation<Void, any Error>
    ) async throws { throw IsDown() }
  }
#endif
