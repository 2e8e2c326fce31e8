#if SwiftOperationPostgreSQL && os(Linux)
  import Foundation
  import Glibc
  import OperationCore
  import OperationMutation
  import OperationPersistence
  import OperationPostgreSQL
  import Synchronization

  /// A program that tests start beside others of its kind, and that kills itself.
  ///
  /// `FleetSubject journal CONNECTION SCHEMA SERVER PROCESS COUNT KILL-AT` makes calls of a mutation with a journal, and
  /// kills itself at the given call of the storage; 0 for never. Its numbers are PROCESS * 1,000 and those that follow. It
  /// adds the number of each stored call to `SERVER.accepted`, and two lines for each request to `SERVER`: when it
  /// begins, and when it ends. Another line says that the process is about to end.
  @main
  struct FleetSubject {
    static func main() async throws {
      let arguments = CommandLine.arguments
      guard arguments.count == 8, arguments[1] == "journal" else { return print("unknown command") }
      try await self.journal(
        PostgreSQLStorage(
          connection: arguments[2],
          schema: arguments[3],
          maximumConnections: 2,
          timeout: .seconds(30)
        ),
        server: arguments[4],
        process: Int(arguments[5]) ?? 0,
        count: Int(arguments[6]) ?? 0,
        killAt: Int(arguments[7]) ?? 0
      )
    }

    private static func journal(
      _ base: PostgreSQLStorage,
      server: String,
      process: Int,
      count: Int,
      killAt: Int
    ) async throws {
      let storage = KillingStorage(base, accepted: LineFile(server + ".accepted"), killAt: killAt)
      let journal = MutationJournal(storage: storage, attemptsBeforeDeadLetter: 1_000, leaseDuration: .seconds(2))
      let client = OperationClient()
      client.journal = journal
      let mutation = Append(server: LineFile(server), process: process).scope("lines").journaled(as: "append")
      journal.register(mutation, as: "append")
      await journal.resume()
      let store = client.store(for: mutation)
      for number in 0..<count { try await store.mutate(with: Line(number: process * 1_000 + number)) }
      await journal.resume().settled()
      // The journal may have begun to make a call that a dead process has left: it ends with this one.
      LineFile(server).append("exit \(process) - -")
      print("done")
      await storage.close()
    }
  }

  struct Line: Codable, Sendable {
    let number: Int
  }

  /// A mutation whose requests take a moment, so that those of two senders would overlap.
  struct Append: MutationRequest {
    let server: LineFile
    let process: Int
    var path: OperationPath { ["append"] }

    func mutate(
      isolation: isolated (any Actor)?,
      with arguments: Line,
      in context: OperationContext,
      with continuation: OperationContinuation<Void, any Error>
    ) async throws {
      let key = context.operationIdempotencyKey ?? "no key"
      self.server.append("begin \(self.process) \(arguments.number) \(key)")
      // Takes a moment, during which another sender would write.
      for _ in 0..<40 { LineFile(self.server.path + ".work").append("\(arguments.number)") }
      self.server.append("end \(self.process) \(arguments.number) \(key)")
    }
  }

  /// A storage that kills the process at one of its calls. Each call counts twice: before it is made, and after it.
  final class KillingStorage: LeasingStorage {
    private let base: PostgreSQLStorage
    private let accepted: LineFile
    private let killAt: Int
    private let count = Atomic(0)

    init(_ base: PostgreSQLStorage, accepted: LineFile, killAt: Int) {
      self.base = base
      self.accepted = accepted
      self.killAt = killAt
    }

    nonisolated(nonsending) func entries(withPrefix prefix: String) async throws -> [StorageEntry] {
      self.step()
      defer { self.step() }
      return try await self.base.entries(withPrefix: prefix)
    }

    nonisolated(nonsending) func apply(_ batch: [StorageChange]) async throws {
      self.step()
      try await self.base.apply(batch)
      for case .put(_, let value) in batch { try self.record(value) }
      self.step()
    }

    nonisolated(nonsending) func acquireLease(
      _ name: String,
      owner: String,
      for duration: Duration
    ) async throws -> StorageLease {
      self.step()
      defer { self.step() }
      return try await self.base.acquireLease(name, owner: owner, for: duration)
    }

    nonisolated(nonsending) func releaseLease(_ name: String, owner: String) async throws {
      self.step()
      defer { self.step() }
      try await self.base.releaseLease(name, owner: owner)
    }

    nonisolated(nonsending) func close() async { await self.base.close() }

    /// From now on the call must not be lost.
    private func record(_ value: [UInt8]) throws {
      struct Entry: Decodable {
        let arguments: String
        let attempts: Int
      }
      let entry = try JSONDecoder().decode(Entry.self, from: Data(value))
      guard entry.attempts <= 1 else { return }
      let line = try JSONDecoder().decode(Line.self, from: Data(entry.arguments.utf8))
      self.accepted.append("\(line.number)")
    }

    private func step() {
      let number = self.count.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue
      if number == self.killAt { kill(getpid(), SIGKILL) }
    }
  }

  /// A file of lines. A line is written in one call, so that it is whole even if the process is killed.
  struct LineFile: Sendable {
    let path: String

    init(_ path: String) {
      self.path = path
    }

    func append(_ line: String) {
      let descriptor = open(self.path, O_WRONLY | O_APPEND | O_CREAT, 0o600)
      let bytes = Array((line + "\n").utf8)
      _ = write(descriptor, bytes, bytes.count)
      close(descriptor)
    }
  }
#else
  @main
  struct FleetSubject {
    static func main() {}
  }
#endif
