#if SwiftOperationSQLite && os(Linux)
  import Foundation
  import Glibc
  import OperationCore
  import OperationMutation
  import OperationPersistence
  import OperationSQLite
  import SubjectFixtures
  import Synchronization

  /// A program that tests start, kill and start again. It makes calls of a mutation with a journal in a database.
  ///
  /// `StorageSubject calls DATABASE SERVER COUNT KILL-AT KEY` resumes, makes the calls that the server file has not
  /// accepted yet, and kills itself at the given call of the storage; 0 for never. It adds the number of each stored
  /// call to `SERVER.accepted`, and each request that the server receives to `SERVER`. The storage is sealed with the key
  /// of that number, and those with lower numbers open; 0 for a storage that is not sealed.
  ///
  /// `StorageSubject years DATABASE SERVER COUNT KILL-AT VERSION` does so in one of two versions of the program, with
  /// calls that are merged and in conflict and a journal that resumes by itself. A line of `SERVER` is a change of it.
  ///
  /// `StorageSubject shared DATABASE SERVER PROCESS COUNT KILL-AFTER` does so beside other processes with the same
  /// database, with numbers of its own, and kills itself after so many requests; 0 for never. Each request is two lines
  /// in the server file: when it begins, and when it ends. Another line says that the process is about to end.
  ///
  /// `StorageSubject writes DATABASE NAME COUNT` puts entries of a name, one after the other.
  ///
  /// `StorageSubject lease DATABASE OWNER SECONDS` takes the lease of the journal and, if it holds it, kills itself.
  @main
  struct StorageSubject {
    static func main() async throws {
      let arguments = CommandLine.arguments
      switch arguments.dropFirst().first {
      case "calls":
        try await calls(
          database: arguments[2],
          server: arguments[3],
          count: Int(arguments[4]) ?? 0,
          killAt: Int(arguments[5]) ?? 0,
          key: UInt64(arguments[6]) ?? 0
        )
      case "years":
        try await years(
          database: arguments[2],
          server: arguments[3],
          count: Int(arguments[4]) ?? 0,
          killAt: Int(arguments[5]) ?? 0,
          version: Int(arguments[6]) ?? 0
        )
      case "shared":
        try await shared(
          database: arguments[2],
          server: arguments[3],
          process: Int(arguments[4]) ?? 0,
          count: Int(arguments[5]) ?? 0,
          killAfter: Int(arguments[6]) ?? 0
        )
      case "writes": try await writes(database: arguments[2], name: arguments[3], count: Int(arguments[4]) ?? 0)
      case "lease":
        try await lease(database: arguments[2], owner: arguments[3], seconds: Int(arguments[4]) ?? 0)
      default: print("unknown command")
      }
    }

    private static func calls(
      database: String,
      server: String,
      count: Int,
      killAt: Int,
      key: UInt64
    ) async throws {
      let accepted = LineFile(server + ".accepted")
      let file = try SQLiteStorage(path: database)
      let killing: KillingStorage
      let storage: any PersistentStorage
      if key == 0 {
        killing = KillingStorage(AcceptingStorage(file, accepted: accepted), killAt: killAt)
        storage = killing
      } else {
        killing = KillingStorage(file, killAt: killAt)
        let keys = (1...key).reversed().map { TestKey($0) }
        let sealed = SealedStorage(killing, key: keys[0], previousKeys: Array(keys.dropFirst()), rewriting: .whenRead)
        storage = AcceptingStorage(sealed, accepted: accepted)
      }
      let journal = MutationJournal(storage: storage, attemptsBeforeDeadLetter: 1_000)
      let client = OperationClient()
      client.journal = journal
      let mutation = Append(server: LineFile(server)).scope("lines").journaled(as: "append")
      journal.register(mutation, as: "append")
      await journal.resume().settled()
      let store = client.store(for: mutation)
      let begun = accepted.lines.compactMap { Int($0) }.max() ?? -1
      var number = begun + 1
      while number < count {
        // Three at once, so that calls wait for their turns and are committed together.
        let numbers = number..<min(number + 3, count)
        number += 3
        let tasks = numbers.map { number in
          Task.immediate { try await store.mutate(with: Line(number: number)) }
        }
        for task in tasks { try await task.value }
      }
      print("done \(journal.entries.count) \(killing.callCount)")
      await storage.close()
    }

    private static func lease(database: String, owner: String, seconds: Int) async throws {
      let storage = try SQLiteStorage(path: database)
      let lease = try await storage.acquireLease("journal", owner: owner, for: .seconds(seconds))
      print(lease == .held ? "held" : "another")
      fflush(nil)
      if lease == .held { kill(getpid(), SIGKILL) }
      await storage.close()
    }

    private static func shared(
      database: String,
      server: String,
      process: Int,
      count: Int,
      killAfter: Int
    ) async throws {
      let storage = try SQLiteStorage(path: database)
      let journal = MutationJournal(storage: storage, attemptsBeforeDeadLetter: 1_000, leaseDuration: .seconds(2))
      let client = OperationClient()
      client.journal = journal
      let mutation = SlowAppend(server: LineFile(server), process: process, killAfter: killAfter)
        .scope("lines").journaled(as: "append")
      journal.register(mutation, as: "append")
      await journal.resume()
      let store = client.store(for: mutation)
      for number in 0..<count {
        try await store.mutate(with: Line(number: process * 1_000 + number))
        LineFile(server + ".accepted").append("\(process * 1_000 + number)")
      }
      await journal.resume().settled()
      // The journal may have begun to make a call that a dead process has left: it ends with this one.
      LineFile(server).append("exit \(process) - -")
      print("done \(process)")
      await storage.close()
    }

    private static func writes(database: String, name: String, count: Int) async throws {
      let storage = try SQLiteStorage(path: database)
      for number in 0..<count {
        try await storage.apply([
          .put(key: "\(name)/\(number)", value: Array("\(number)".utf8)),
          .put(key: "\(name)/last", value: Array("\(number)".utf8)),
        ])
      }
      print("done")
      await storage.close()
    }
  }

  /// A mutation that a server does: it adds a line with the number and the key of the call.
  struct Append: MutationRequest {
    let server: LineFile
    var path: OperationPath { ["append"] }

    func mutate(
      isolation: isolated (any Actor)?,
      with arguments: Line,
      in context: OperationContext,
      with continuation: OperationContinuation<Void, any Error>
    ) async throws {
      self.server.append("\(arguments.number) \(context.operationIdempotencyKey ?? "no key")")
    }
  }

  /// A mutation whose requests take a moment, so that those of two senders would overlap.
  struct SlowAppend: MutationRequest {
    private static let begun = Atomic(0)

    let server: LineFile
    let process: Int
    let killAfter: Int
    var path: OperationPath { ["append"] }

    func mutate(
      isolation: isolated (any Actor)?,
      with arguments: Line,
      in context: OperationContext,
      with continuation: OperationContinuation<Void, any Error>
    ) async throws {
      let key = context.operationIdempotencyKey ?? "no key"
      self.server.append("begin \(self.process) \(arguments.number) \(key)")
      let count = Self.begun.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue
      if count == self.killAfter { kill(getpid(), SIGKILL) }
      // Takes a moment, during which another sender would write.
      for _ in 0..<10 { _ = self.server.lines }
      self.server.append("end \(self.process) \(arguments.number) \(key)")
    }
  }
#else
  @main
  struct StorageSubject {
    static func main() {}
  }
#endif
