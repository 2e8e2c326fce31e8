#if SwiftOperationPostgreSQL && os(Linux)
  import Foundation
  import OperationCore
  import OperationPersistence
  import OperationTesting
  import TestFixtures
  import Testing

  @testable import OperationPostgreSQL

  @Suite(.bounded, .needsServer) struct FaultTests {
    @Test func `A server that is stopped is an error with the remedy, and is used again later`() async throws {
      let server = try await DatabaseServer()
      try await PostgreSQLSchema().migrate(connection: server.connection())
      let storage = try PostgreSQLStorage(connection: server.connection(), timeout: .seconds(3))
      try await storage.put("a")
      try await server.stop()
      let error = await #expect(throws: StorageError.self) { try await storage.put("b") }
      expect(error?.code, equals: .cannotOpen, "\(String(describing: error))")
      expect(error?.message.contains("The database \"postgres\" of \(server.folder)"), equals: true)
      expect(error?.message.contains("Start the server"), equals: true)
      try await server.start()
      let again = try PostgreSQLStorage(connection: server.connection())
      try await expect(again.keys(), equals: ["a"])
      // Its next attempt may be up to the longest pause away.
      try await withTimeLimit("the storage to connect again", .seconds(20)) {
        while (try? await storage.put("c")) == nil {}
      }
      await storage.close()
      await again.close()
    }

    @Test(arguments: ["crash", "stop", "sessions"])
    func `No call fails while the server starts again, and none is lost`(fault: String) async throws {
      let server = try await DatabaseServer(settings: ["fsync=on"])
      let storage = try PostgreSQLStorage(connection: server.connection(), timeout: .seconds(30))
      try await storage.put("first")
      let (count, writers) = (60, 4)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for writer in 0..<writers {
          group.addTask {
            for number in 0..<count {
              try await storage.apply([
                .put(key: "\(writer)/\(number)", value: [1]), .put(key: "\(writer)/last", value: [UInt8(number)]),
              ])
              // In the middle, so that the others are under way.
              guard writer == 0, number == 10 || number == 30 else { continue }
              if fault == "sessions" {
                try await server.run(
                  "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'swift-operation'"
                )
              } else {
                try await (fault == "crash" ? server.crash() : server.stop())
                try await server.start()
              }
            }
          }
        }
        try await group.waitForAll()
      }
      for writer in 0..<writers {
        let entries = try await storage.entries(withPrefix: "\(writer)/")
        expect(entries.count, equals: count + 1)
        expect(entries.last, equals: StorageEntry(key: "\(writer)/last", value: [UInt8(count - 1)]))
      }
      await storage.close()
    }

    @Test func `No crash brings back a call that was removed`() async throws {
      // Nothing writes the log for what does not wait for it.
      let server = try await DatabaseServer(settings: [
        "fsync=on", "wal_writer_delay=10s", "wal_writer_flush_after=1GB",
      ])
      let storage = try PostgreSQLStorage(connection: server.connection(), timeout: .seconds(30))
      let call = StorageEntry(key: "journal/1", value: [1])
      try await storage.apply([.put(key: call.key, value: call.value)])
      let condition = StorageCondition.unchanged(key: call.key, StorageVersion(of: call.value, at: call.key))
      try await expect(storage.apply([.remove(key: call.key)], if: [condition]), equals: .made)
      try await server.crash()
      try await server.start()
      #expect(try await storage.entries(withPrefix: "").isEmpty)
      await storage.close()
    }

    @Test func `A statement that waits for too long is an error, and the connection is used again`() async throws {
      let server = try await DatabaseServer.shared.value
      let schema = ServerTests.newSchema()
      try await PostgreSQLSchema(schema).migrate(connection: server.connection())
      let storage = try PostgreSQLStorage(
        connection: server.connection(),
        schema: schema,
        maximumConnections: 1,
        timeout: .seconds(3)
      )
      try await storage.put("a")
      let lock = try await TableLock("\(schema).entry", of: server)
      let error = await #expect(throws: StorageError.self) { try await storage.keys() }
      expect(error?.code, equals: .busy, "\(String(describing: error))")
      expect(error?.message.contains("timeout"), equals: true)
      try await lock.release()
      try await withTimeLimit("the statement to be cancelled", .seconds(20)) {
        while (try? await storage.keys()) != ["a"] {}
      }
      expect(storage.pool.connectionCount, equals: 1)
      await storage.close()
    }

    @Test func `A cancelled reader leaves at once, and its statement ends at the server`() async throws {
      let server = try await DatabaseServer.shared.value
      let schema = ServerTests.newSchema()
      let storage = try PostgreSQLStorage(
        connection: server.connection(),
        schema: schema,
        maximumConnections: 1,
        timeout: .seconds(60)
      )
      try await storage.put("a")
      let lock = try await TableLock("\(schema).entry", of: server)
      let reader = Task { try await storage.keys() }
      // Behind the first one in the pool.
      let second = Task { try await storage.keys() }
      reader.cancel()
      second.cancel()
      let results = [await reader.result, await second.result]
      for result in results { #expect(throws: CancellationError.self) { try result.get() } }
      // The one connection is free only when the server has cancelled the statement: this lock is taken elsewhere.
      try await expect(storage.acquireLease("lease", owner: "a", for: .seconds(60)), equals: .held)
      try await lock.release()
      try await expect(storage.keys(), equals: ["a"])
      await storage.close()
    }

    /// A request to cancel goes over a connection of its own, and must not reach the statement that comes next.
    @Test(arguments: 0..<4 as Range<UInt64>)
    func `Cancelling some statements ends no others, and each caller has its own rows`(seed: UInt64) async throws {
      let server = try await DatabaseServer.shared.value
      let pool = ConnectionPool(
        try ConnectionOpening(server.connection(), deadlines: .system),
        maximumConnections: 2,
        timeout: .seconds(60),
        deadlines: .system,
        setUp: { _ in }
      )
      let statement = Statement("SELECT $1, pg_sleep(0.001)::text", .integer)
      var random = SeededGenerator(seed: seed)
      let isCancelled = (0..<200).map { _ in Bool.random(using: &random) }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for worker in 0..<4 {
          group.addTask {
            for number in stride(from: worker, to: isCancelled.count, by: 4) {
              let task = Task { try await pool.perform(statement, [.integer(Int64(number))]).first?.integer(0) }
              if isCancelled[number] { task.cancel() }
              switch await task.result {
              case .success(let value): expect(value, equals: Int64(number))
              case .failure(let error):
                let code = (error as? PostgreSQLError)?.code
                #expect(isCancelled[number] && code == .cancelled, "\(number): \(error)")
              }
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(pool.connectionCount <= 2)
      pool.close()
    }

    @Test func `A full disk is an error with the remedy, and nothing of the batch is there`() async throws {
      guard let disk = try SmallDisk(megabytes: 40) else { return }
      let server = try await DatabaseServer()
      try await server.run("CREATE TABLESPACE small LOCATION '\(disk.path)'")
      try await server.run("CREATE DATABASE small TABLESPACE small")
      let storage = try PostgreSQLStorage(connection: server.connection(database: "small"))
      try await storage.put("first")
      var generator = SystemRandomNumberGenerator()
      // Bytes that PostgreSQL cannot compress.
      let block = (0..<131_072).flatMap { _ in withUnsafeBytes(of: generator.next() as UInt64) { Array($0) } }
      var failure: (any Error)?
      var stored = 0
      while failure == nil, stored < 100 {
        do {
          try await storage.apply([
            .put(key: "block/\(100 + stored)", value: block), .put(key: "more/\(stored)", value: block),
          ])
          stored += 1
        } catch { failure = error }
      }
      let error = try #require(failure as? StorageError)
      expect(error.code, equals: .full, "\(error)")
      #expect(error.message.contains("Make room on the disk of the server."))
      try await expect(storage.keys("block/").count, equals: stored)
      try await expect(storage.keys("more/").count, equals: stored)
      // The other database, on another disk, is used as before.
      let other = try PostgreSQLStorage(connection: server.connection())
      try await other.put("a")
      await other.close()
      await storage.close()
      withExtendedLifetime(disk) {}
    }

    /// Opens a connection. The sessions of earlier statements end a moment after their answers.
    private func firstFree(_ opening: ConnectionOpening) async throws -> DatabaseConnection {
      while true {
        do { return try await opening.open(within: .seconds(9)) } catch {
          guard error.code == .busy else { throw error }
        }
      }
    }

    @Test func `A server without a free connection is an error with the remedy`() async throws {
      let server = try await DatabaseServer(settings: ["max_connections=5", "superuser_reserved_connections=3"])
      try await server.run("CREATE ROLE service LOGIN")
      try await PostgreSQLSchema().migrate(connection: server.connection(), grantingTo: "service")
      let connection = server.connection(user: "service")
      let opening = try ConnectionOpening(connection, deadlines: .system)
      let others = [try await self.firstFree(opening), try await self.firstFree(opening)]
      let storage = try PostgreSQLStorage(connection: connection, timeout: .seconds(3))
      let error = await #expect(throws: StorageError.self) { try await storage.keys() }
      expect(error?.code, equals: .busy, "\(String(describing: error))")
      expect(error?.message.contains("Raise `max_connections` of the server"), equals: true)
      await storage.close()
      let patient = try PostgreSQLStorage(connection: connection, timeout: .seconds(30))
      let keys = Task { try await patient.keys() }
      others[0].close()
      #expect(try await keys.value.isEmpty)
      others[1].close()
      await patient.close()
    }
  }

  /// A lock on a table, which lets nobody read it.
  private struct TableLock {
    private let connection: DatabaseConnection

    init(_ table: String, of server: DatabaseServer) async throws {
      self.connection = try await ConnectionOpening(server.connection(), deadlines: .system).open(within: .seconds(10))
      _ = try await self.connection.perform(Statement(script: "BEGIN"), within: .seconds(10))
      _ = try await self.connection.perform(
        Statement(script: "LOCK TABLE \(table) IN ACCESS EXCLUSIVE MODE"),
        within: .seconds(10)
      )
    }

    func release() async throws {
      _ = try await self.connection.perform(Statement(script: "COMMIT"), within: .seconds(10))
      self.connection.close()
    }
  }

  /// A disk in memory; nil where this user may not mount one.
  private final class SmallDisk: Sendable {
    let path: String

    init?(megabytes: Int) throws {
      let path = (NSTemporaryDirectory() as NSString).appendingPathComponent("pg-disk-\(UInt32.random(in: 0...(.max)))")
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      self.path = path
      let options = "size=\(megabytes)m,uid=65534,gid=65534,mode=700"
      guard Self.run("/bin/mount", "-t", "tmpfs", "-o", options, "tmpfs", path) else {
        try? FileManager.default.removeItem(atPath: path)
        return nil
      }
    }

    deinit {
      // The server may use it until it has ended.
      _ = Self.run("/bin/umount", "-l", self.path)
      try? FileManager.default.removeItem(atPath: self.path)
    }

    private static func run(_ command: String, _ arguments: String...) -> Bool {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: command)
      process.arguments = arguments
      process.standardError = FileHandle.nullDevice
      guard (try? process.run()) != nil else { return false }
      process.waitUntilExit()
      return process.terminationStatus == 0
    }
  }
#endif
