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
  /// adds the number of each stored call to `SERVER.accepted`, and two lines for each request to `SERVER`: when it begins,
  /// and when it ends. Another line says that the process is about to end.
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
      let storage = KillingLeases(base, accepted: LineFile(server + ".accepted"), killAt: killAt)
      let journal = MutationJournal(storage: storage, attemptsBeforeDeadLetter: 1_000, leaseDuration: .seconds(2))
      let client = OperationClient()
      client.journal = journal
      let stores = (0..<Line.scopes).map { scope in
        let name = "append-\(scope)"
        let mutation = Append(server: LineFile(server), process: process, path: ["append", scope])
          .scope("lines-\(scope)").journaled(as: name)
        journal.register(mutation, as: name)
        return client.store(for: mutation)
      }
      await journal.resume()
      for number in 0..<count {
        let line = Line(number: process * 1_000 + number)
        try await stores[line.scope].mutate(with: line)
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
    let path: OperationPath

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
