#if SwiftOperationSQLite && os(Linux)
  import Foundation
  import TestFixtures
  import Testing

  /// Faults of a program whose calls are merged, in conflict, and of two versions, with a journal that resumes by itself.
  @Suite(.boundedBeforeOthers, .serialized) struct VersionedFaultTests {
    private static let count = 60
    private static let isComplete = ProcessInfo.processInfo.environment["SWIFT_OPERATION_ALL_FAULTS"] != nil

    private func run(
      _ folder: Folder,
      adding count: Int = 0,
      killedAt place: Int = 0,
      version: Int
    ) async throws -> (left: Int?, calls: Int?, text: String) {
      let result = try await runSubject(
        "years",
        folder.file(),
        folder.file("server"),
        "\(count)",
        "\(place)",
        "\(version)"
      )
      let words = result.output.split(separator: " ").dropFirst().map { Int($0) }
      guard words.count == 2 else { return (nil, nil, "\(result)") }
      return (words[0], words[1], "\(result)")
    }

    @Test func `Killed at any call of the storage, updated and downgraded, no accepted number is lost or added twice`()
      async throws
    {
      let complete = try Folder.inMemory()
      let result = try await self.run(complete, adding: Self.count, version: 1)
      expect(result.left, equals: 0, "\(result.text)")
      let callCount = try #require(result.calls)
      let requests = try self.check(complete)
      // Five calls become one or two requests, each of which is in conflict with the other device's change.
      #expect(requests < Self.count)
      let places = (1...callCount).filter { Self.isComplete || $0 <= 12 || $0 % 11 == 0 }
      await withTaskGroup(of: Void.self) { group in
        for place in places {
          if place > places[1] { await group.next() }
          group.addTask { await self.killUpdateAndDowngrade(at: place) }
        }
      }
    }

    private func killUpdateAndDowngrade(at place: Int) async {
      await #expect(throws: Never.self, "killed at \(place)") {
        let folder = try Folder.inMemory()
        _ = try await self.run(folder, adding: Self.count, killedAt: place, version: 1)
        // Updated, and killed while it makes the calls that are left and new ones.
        _ = try await self.run(folder, adding: Self.count, killedAt: place % 29 + 1, version: 2)
        // Downgraded: calls of the second version stay.
        let downgraded = try await self.run(folder, version: 1)
        #expect(downgraded.left != nil, "killed at \(place): \(downgraded.text)")
        let last = try await self.run(folder, version: 2)
        expect(last.left, equals: 0, "killed at \(place): \(last.text)")
        _ = try self.check(folder, "killed at \(place)")
      }
    }

    /// Compares what the server has with the accepted numbers. Returns the number of requests.
    private func check(_ folder: Folder, _ comment: Comment = "") throws -> Int {
      func lines(_ name: String) -> [String] {
        String(decoding: (try? folder.read(name)) ?? Data(), as: UTF8.self).split(separator: "\n").map(String.init)
      }
      let accepted = Set(lines("server.accepted").compactMap { Int($0) })
      let requests = lines("server").filter { $0 != "other device" }.map { $0.split(separator: " ") }
      let done = requests.flatMap { $0[0].split(separator: ",").compactMap { Int($0) } }
      expect(Set(done).count, equals: done.count, "\(comment): added twice: \(done)")
      expect(Set(requests.map { $0[1] }).count, equals: requests.count, comment)
      expect(done, equals: done.sorted(), comment)
      let lost = accepted.subtracting(done)
      #expect(lost.isEmpty, "\(comment): lost \(lost.sorted())")
      return requests.count
    }
  }
#endif
