#if SwiftOperationSQLite && os(Linux)
  import Foundation
  import GRDB
  import OperationCore
  import OperationPersistence
  import OperationSQLite
  import OperationTesting
  import TestFixtures
  import Testing

  @Suite(.bounded) struct FreeSpaceTests {
    private static let value = [UInt8](repeating: 7, count: 2_000)

    private func fill(_ storage: SQLiteStorage, _ count: Int) async throws {
      try await storage.apply((0..<count).map { .put(key: "value/\($0 + 10_000)", value: Self.value) })
    }

    private func number(_ pragma: String, _ path: String) throws -> Int {
      let queue = try DatabaseQueue(path: path)
      defer { try? queue.close() }
      return try queue.read { try Int.fetchOne($0, sql: "PRAGMA \(pragma)") } ?? -1
    }

    @Test func `A file becomes smaller after entries were removed, and keeps the others`() async throws {
      let folder = try Folder.inMemory()
      let storage = try SQLiteStorage(path: folder.file())
      try await self.fill(storage, 2_000)
      #expect(try self.number("page_count", folder.file()) > 1_000)
      try await storage.apply((0..<1_990).map { .remove(key: "value/\($0 + 10_000)") })
      await storage.settled()
      let pages = try self.number("page_count", folder.file())
      #expect(pages < 200)
      let keys = (1_990..<2_000).map { "value/\($0 + 10_000)" }
      try await expect(storage.keys(), equals: keys)
      await storage.close()
      #expect(try folder.read().count < 200 * 4_096)
      let reopened = try SQLiteStorage(path: folder.file())
      #expect(try await reopened.entries(withPrefix: "").allSatisfy { $0.value == Self.value })
      try await expect(reopened.keys(), equals: keys)
      await reopened.close()
    }

    @Test func `Batches are written between the steps, and none is lost`() async throws {
      let folder = try Folder.inMemory()
      let storage = try SQLiteStorage(path: folder.file())
      try await self.fill(storage, 4_000)
      try await storage.apply((0..<4_000).map { .remove(key: "value/\($0 + 10_000)") })
      try await withThrowingTaskGroup { group in
        for task in 0..<4 {
          group.addTask {
            for round in 0..<50 { try await storage.put("task/\(task)/\(round + 100)", "\(round)") }
          }
        }
        try await group.waitForAll()
      }
      await storage.settled()
      try await expect(storage.keys("task/").count, equals: 200)
      #expect(try self.number("page_count", folder.file()) < 400)
      await storage.close()
    }

    @Test func `A small file, and one with few unused pages, stay as they are`() async throws {
      let folder = try Folder.inMemory()
      let storage = try SQLiteStorage(path: folder.file())
      try await self.fill(storage, 1_000)
      let pages = try self.number("page_count", folder.file())
      try await storage.apply((0..<100).map { .remove(key: "value/\($0 + 10_000)") })
      await storage.settled()
      try expect(self.number("page_count", folder.file()), equals: pages)
      await storage.close()
    }

    @Test func `A file of an earlier version is written anew once, and keeps its entries`() async throws {
      let folder = try Folder.inMemory()
      let storage = try SQLiteStorage(path: folder.file())
      try await self.fill(storage, 500)
      await storage.close()
      let queue = try DatabaseQueue(path: folder.file())
      try await queue.writeWithoutTransaction { database in
        try database.execute(sql: "PRAGMA auto_vacuum = NONE")
        try database.execute(sql: "VACUUM")
      }
      try queue.close()
      try expect(self.number("auto_vacuum", folder.file()), equals: 0)
      let reopened = try SQLiteStorage(path: folder.file())
      try expect(self.number("auto_vacuum", folder.file()), equals: 2)
      try await expect(reopened.keys().count, equals: 500)
      try await reopened.apply((0..<490).map { .remove(key: "value/\($0 + 10_000)") })
      await reopened.settled()
      #expect(try self.number("page_count", folder.file()) < 150)
      await reopened.close()
    }

    @Test(.enabled(if: mayMount(), "This user may not mount a small disk."))
    func `A file that there was no room to write anew stays as large as it was, and the storage goes on`() async throws
    {
      let folder = try Folder()
      let disk = folder.file("disk")
      try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
      try #require(run("/bin/mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", disk))
      defer { _ = run("/bin/umount", disk) }
      let path = disk + "/state.sqlite"
      let storage = try SQLiteStorage(path: path)
      try await self.fill(storage, 250)
      await storage.close()
      let queue = try DatabaseQueue(path: path)
      try await queue.writeWithoutTransaction { database in
        try database.execute(sql: "PRAGMA auto_vacuum = NONE")
        try database.execute(sql: "VACUUM")
      }
      try queue.close()
      fillUp(disk + "/ballast")
      let ballast = try FileManager.default.attributesOfItem(atPath: disk + "/ballast")[.size] as? Int ?? 0
      try #require(truncate(disk + "/ballast", ballast - 300_000) == 0)
      let reopened = try SQLiteStorage(path: path)
      try expect(self.number("auto_vacuum", path), equals: 0)
      for number in 0..<240 { try await reopened.apply([.remove(key: "value/\(number + 10_000)")]) }
      try await withTimeLimit("the writer") { await reopened.settled() }
      try await expect(reopened.keys().count, equals: 10)
      await reopened.close()
    }

    @Test func `Limits make a file smaller, too`() async throws {
      let folder = try Folder.inMemory()
      let storage = try SQLiteStorage(path: folder.file())
      let client = OperationClient()
      client.defaultContext.operationStorage = storage
      let text = String(repeating: "x", count: 2_000)
      for number in 0..<1_000 {
        let query = ValueQuery(number: number).persisted(as: "text")
        client.store(for: query).currentValue = text
      }
      #expect(await client.persistence.flush())
      #expect(try self.number("page_count", folder.file()) > 500)
      client.persistence.limits = StorageLimits(maximumBytes: 100_000)
      await client.persistence.settled()
      await storage.settled()
      let statistics = try await client.persistence.statistics
      #expect(statistics.total.bytes <= 100_000 && statistics.total.rows > 40)
      expect(statistics.evictions, equals: 1_000 - statistics.total.rows)
      #expect(try self.number("page_count", folder.file()) < 200)
      await storage.close()
    }
  }
#endif
