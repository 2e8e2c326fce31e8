#if SwiftOperationPostgreSQL && os(Linux)
  import Foundation
  import OperationPersistence
  import OperationTesting
  import SubjectFixtures
  import TestFixtures
  import Testing

  @testable import OperationPostgreSQL

  @Suite(.bounded, .needsServer) struct JournalTests {
    /// Processes are killed at random until a thousand calls were accepted. Each dead one has a successor.
    @Test(arguments: ServerTests.isDemanded ? [1, 2, 3] : [1] as [UInt64])
    func `Each call of eight processes that are killed at random arrives, once where its sender lived, in order`(
      seed: UInt64
    ) async throws {
      let server = try await DatabaseServer.shared.value
      let schema = ServerTests.newSchema("journal")
      let file = server.folder + "/\(schema)"
      var random = SeededGenerator(seed: seed)
      // Seven of the first eight die, and four of their successors.
      let deaths = (0..<15).map { $0 == 0 || $0 > 11 ? 0 : Int.random(in: 3...400, using: &random) }
      let killed = Log<String>()
      let next = Counter()
      try await withTimeLimit("a thousand calls", .seconds(300)) {
        try await withThrowingTaskGroup(of: Void.self) { group in
          for process in 0..<8 {
            group.addTask {
              var number = process
              var remaining = 125
              while remaining > 0 {
                let killAt = number < deaths.count ? deaths[number] : 0
                let result = try await Self.run(
                  server.connection(),
                  schema,
                  file,
                  "\(number)",
                  "\(remaining)",
                  "\(killAt)"
                )
                if result.reason == .exit {
                  expect(result.output, equals: "done")
                  return
                }
                killed.append("\(number)")
                // A call is stored again when it is sent.
                let accepted = Set(Self.lines(file + ".accepted").map { $0[0] })
                remaining -= accepted.count { $0.count > 3 && $0.dropLast(3) == "\(number)" }
                number = 7 + next.increment()
              }
            }
          }
          try await group.waitForAll()
        }
      }
      // What the last one to die has left is made by one that is started now, if the others have ended before.
      try await expect(Self.run(server.connection(), schema, file, "99", "0", "0").output, equals: "done")
      let dead = Set(killed.all)
      #expect(dead.count >= 4, "only \(dead) were killed")
      try self.check(Self.lines(file), accepted: Self.lines(file + ".accepted").map { $0[0] }, killed: dead)
      let storage = try PostgreSQLStorage(connection: server.connection(), schema: schema)
      #expect(try await storage.keys("journal/").isEmpty)
      await storage.close()
    }

    /// Checks that no two requests of a scope overlap unless the sender of the first has ended, that a call is repeated
    /// only then, and that the calls of each process and scope are in order.
    private func check(_ lines: [[String]], accepted: [String], killed: Set<String>) throws {
      // By scopes: a request, as its process and its number.
      var open: [Int: [String]] = [:]
      var done: [String] = []
      var senders: [String: String] = [:]
      var ended = killed
      for line in lines {
        try #require(line.count == 4)
        let scope = Line(number: Int(line[2]) ?? 0).scope
        if line[0] == "begin" {
          if let open = open[scope] { #expect(ended.contains(open[1]), "\(line) begins during \(open)") }
          open[scope] = line
        } else if line[0] == "exit" {
          ended.insert(line[1])
        } else {
          expect(open[scope].map { Array($0.dropFirst()) }, equals: Array(line.dropFirst()))
          open[scope] = nil
          if let first = senders.updateValue(line[1], forKey: line[2]) {
            #expect(ended.contains(first), "\(line[2]) was sent by \(first) and \(line[1])")
          } else {
            done.append(line[2])
          }
        }
      }
      // Called after a process was killed, before it could note it: then it has arrived nevertheless.
      #expect(Set(accepted).isSubset(of: done), "lost: \(Set(accepted).subtracting(done).sorted())")
      #expect(done.count >= 1_000)
      let numbers = done.compactMap { Int($0) }
      for numbers in Dictionary(grouping: numbers, by: { [$0 / 1_000, Line(number: $0).scope] }).values {
        expect(numbers, equals: numbers.sorted())
      }
    }

    private static func lines(_ path: String) -> [[String]] {
      let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
      return text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    }

    private static func run(_ arguments: String...) async throws -> (output: String, reason: Process.TerminationReason)
    {
      let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
      let program = (own as NSString).deletingLastPathComponent + "/FleetSubject"
      return try await inThread {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = ["journal"] + arguments
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let text = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        return (text, process.terminationReason)
      }
    }
  }
#endif
