#if SwiftOperationPostgreSQL && os(Linux)
  import Foundation
  import Glibc
  import OperationCore
  import OperationMutation
  import OperationPersistence
  import OperationPostgreSQL
  import SubjectFixtures

  /// A program that tests start beside others of its kind, and that kills itself.
  ///
  /// `FleetSubject journal CONNECTION SCHEMA SERVER PROCESS COUNT KILL-AT` makes calls of a mutation with a journal, and
  /// kills itself at the given call of the storage; 0 for never. Its numbers are PROCESS * 1,000 and those that follow. It
  /// adds the number of each stored call to `SERVER.accepted`, and two lines for each request to `SERVER`: when it
  /// begins, and when it ends. Another line says that the process is about to end. The calls are in four scopes, by the
  /// rest of their numbers, and one of each is made at a time.
  @main
  struct FleetSubject {
    private static let scopeCount = 4

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
      let storage = KillingLeases(base, accepted: LineFile(server + ".accepted"), killAt: killAt)
      let journal = MutationJournal(storage: storage, attemptsBeforeDeadLetter: 1_000, leaseDuration: .seconds(2))
      let client = OperationClient()
      client.journal = journal
      var mutation = Append(server: LineFile(server), process: process)
      // Calls that are made again keep the scopes in which they were accepted.
      journal.register(mutation.journaled(as: "append"), as: "append")
      let stores = (0..<Self.scopeCount).map { scope in
        mutation.number = scope
        return client.store(for: mutation.scope("lines \(scope)").journaled(as: "append"))
      }
      await journal.resume()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (scope, store) in stores.enumerated() {
          group.addTask {
            for number in stride(from: scope, to: count, by: Self.scopeCount) {
              try await store.mutate(with: Line(number: process * 1_000 + number))
            }
          }
        }
        try await group.waitForAll()
      }
      await journal.resume().settled()
      // The journal may have begun to make a call that a dead process has left: it ends with this one.
      LineFile(server).append("exit \(process) - -")
      print("done")
      await storage.close()
    }
  }

  /// A mutation whose requests take a moment, so that those of two senders would overlap.
  struct Append: MutationRequest {
    let server: LineFile
    let process: Int
    /// Distinguishes the stores: that of calls that are made again has none.
    var number = -1
    var path: OperationPath { ["append", self.number] }

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
#else
  @main
  struct FleetSubject {
    static func main() {}
  }
#endif
