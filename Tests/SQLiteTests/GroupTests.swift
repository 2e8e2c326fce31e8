#if SwiftOperationSQLite && os(Linux)
  import Foundation
  import GRDB
  import OperationPersistence
  import OperationSQLite
  import OperationTesting
  import TestFixtures
  import Testing

  /// Batches that wait for the same write. Another connection keeps the file locked until all of them wait.
  @Suite(.bounded) struct GroupTests {
    private let folder: Folder

    init() throws { self.folder = try Folder.inMemory() }

    @Test(arguments: [2, 64, 256])
    func `Callers that wait share one write, in the order of their calls`(count: Int) async throws {
      let storage = try SQLiteStorage(path: self.folder.file())
      try await storage.put("before", "x")
      let lock = try FileLock(self.folder.file())
      let before = try self.commitCount()
      let calls = (0..<count).map { number in
        Task.immediate {
          try await storage.apply([
            .put(key: "own/\(number)", value: [1]), .put(key: "shared/key", value: Array("\(number)".utf8)),
          ])
        }
      }
      try lock.release()
      for call in calls { try await self.result(of: call).get() }
      try expect(self.commitCount(), equals: before + 1)
      try await expect(storage.keys("own/").count, equals: count)
      try await expect(storage.entries(withPrefix: "shared/").map(\.value), equals: [Array("\(count - 1)".utf8)])
      await storage.close()
    }

    @Test func `More callers than are committed together need one more write`() async throws {
      let storage = try SQLiteStorage(path: self.folder.file())
      try await storage.put("before", "x")
      let lock = try FileLock(self.folder.file())
      let before = try self.commitCount()
      let calls = (0..<300).map { number in Task.immediate { try await storage.put("own/\(number)", "x") } }
      try lock.release()
      for call in calls { try await self.result(of: call).get() }
      try expect(self.commitCount(), equals: before + 2)
      try await expect(storage.keys("own/").count, equals: 300)
      await storage.close()
    }

    @Test func `A member that fails is undone alone, and each caller hears of its own batch`() async throws {
      let storage = try SQLiteStorage(path: self.folder.file())
      try await storage.put("shared/key", "before")
      try await DatabaseQueue(path: self.folder.file()).write { database in
        try database.execute(
          sql: "CREATE TRIGGER t BEFORE INSERT ON entry WHEN NEW.key LIKE 'bad%' BEGIN SELECT RAISE(ABORT, 'no'); END"
        )
      }
      let lock = try FileLock(self.folder.file())
      let calls = (0..<40).map { number in
        Task.immediate {
          let name = number % 10 == 7 || number == 39 ? "bad" : "good"
          try await storage.apply([
            .put(key: "shared/key", value: Array("\(number)".utf8)), .put(key: "\(name)/\(number)", value: [1]),
          ])
        }
      }
      try lock.release()
      var failed: [Int] = []
      for (number, call) in calls.enumerated() {
        if case .failure(let error) = try await self.result(of: call) {
          failed.append(number)
          expect((error as? StorageError)?.code, equals: .failed, "\(error)")
        }
      }
      expect(failed, equals: [7, 17, 27, 37, 39])
      try await expect(storage.keys("good/").count, equals: 35)
      #expect(try await storage.keys("bad/").isEmpty)
      try await expect(storage.entries(withPrefix: "shared/").map(\.value), equals: [Array("38".utf8)])
      await storage.close()
      // The numbers of entries are those of the batches that were made, or the file would be set aside.
      let again = try SQLiteStorage(path: self.folder.file())
      try await expect(again.keys().count, equals: 36)
      await again.close()
      try expect(self.folder.files, equals: ["state.sqlite"])
    }

    @Test func `Batches that wait for a locked file do not wait for it one after the other`() async throws {
      let storage = try SQLiteStorage(path: self.folder.file(), busyTimeout: .milliseconds(50))
      try await storage.put("before", "x")
      let lock = try FileLock(self.folder.file())
      let calls = (0..<32).map { number in Task.immediate { try await storage.put("own/\(number)", "x") } }
      // Each of these waits for the lock in between, which takes longer than two groups do.
      for _ in 0..<4 {
        await #expect(throws: StorageError.self) {
          try await storage.acquireLease("lease", owner: "a", for: .seconds(60))
        }
      }
      try lock.release()
      for call in calls {
        await #expect { try await call.value } throws: { ($0 as? StorageError)?.code == .busy }
      }
      try await expect(storage.keys(), equals: ["before"])
      await storage.close()
    }

    @Test func `A caller that is cancelled while it waits hears that its batch was written`() async throws {
      let storage = try SQLiteStorage(path: self.folder.file())
      let lock = try FileLock(self.folder.file())
      let calls = (0..<8).map { number in Task.immediate { try await storage.put("own/\(number)", "x") } }
      for call in calls where call != calls[3] { call.cancel() }
      try lock.release()
      for call in calls { try await self.result(of: call).get() }
      try await expect(storage.keys("own/").count, equals: 8)
      await storage.close()
    }

    @Test func `Removals that wait together with a batch that is put are made with it`() async throws {
      let storage = try SQLiteStorage(path: self.folder.file())
      try await storage.apply((0..<8).map { .put(key: "own/\($0)", value: [1]) })
      let lock = try FileLock(self.folder.file())
      var calls = (0..<8).map { number in Task.immediate { try await storage.apply([.remove(key: "own/\(number)")]) } }
      calls.append(Task.immediate { try await storage.put("own/new", "x") })
      try lock.release()
      for call in calls { try await self.result(of: call).get() }
      try await expect(storage.keys("own/"), equals: ["own/new"])
      await storage.close()
    }

    @Test(.enabled(if: mayMount(), "This user may not mount a small disk."))
    func `On a full disk the batches of a group that have room are written, and the others fail`() async throws {
      let disk = self.folder.file("disk")
      try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
      try #require(run("/bin/mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk))
      defer { _ = run("/bin/umount", disk) }
      let storage = try SQLiteStorage(path: disk + "/state.sqlite")
      try await storage.put("before", "x")
      let lock = try FileLock(disk + "/state.sqlite")
      let large = [UInt8](repeating: 7, count: 300_000)
      let calls = (0..<20).map { number in
        Task.immediate {
          try await storage.apply([.put(key: "own/\(number)", value: number % 2 == 0 ? [UInt8(number)] : large)])
        }
      }
      try lock.release()
      var written: [String] = []
      for (number, call) in calls.enumerated() {
        switch try await self.result(of: call) {
        case .success: written.append("own/\(number)")
        case .failure(let error):
          expect((error as? StorageError)?.code, equals: .full, "\(number): \(error)")
          expect(number % 2, equals: 1, "a small batch was not written")
        }
      }
      try await expect(storage.keys("own/"), equals: written.sorted())
      #expect(written.count < 20)
      await storage.close()
    }

    private func result(of call: Task<Void, any Error>) async throws -> Result<Void, any Error> {
      try await withTimeLimit("the end of a call") { await call.result }
    }

    /// How many transactions the write-ahead log has.
    private func commitCount() throws -> Int {
      let log = try [UInt8](self.folder.read("state.sqlite-wal"))
      return stride(from: 32, through: log.count - 24, by: 24 + 4_096).count { start in
        // The size of the database is in the last frame of a transaction.
        log[start + 4..<start + 8].contains { $0 != 0 } && log[start + 8..<start + 16] == log[16..<24]
      }
    }
  }
#endif
