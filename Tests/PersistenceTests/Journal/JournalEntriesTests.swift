import Foundation
import OperationCore
import OperationMutation
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// What observers of the entries receive, and what it costs.
@Suite(.bounded, .warningsAreIssues) struct JournalEntriesTests {
  #if os(Linux)
    /// The bytes that the process has in memory.
    private static func residentBytes() throws -> Int {
      // The second number, in pages: see proc_pid_statm(5).
      let numbers = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
      return try #require(Int(numbers[1])) * sysconf(CInt(_SC_PAGESIZE))
    }

    /// The memory that 100 calls take beside `count` pending ones, where an observer keeps the entries of all changes.
    private static func memoryOfCalls(among count: Int) async throws -> Int {
      let journal = Program(try await storage(withCalls: count)).makeJournal()
      let kept = Log<JournalEntries>()
      let subscription = journal.subscribe { kept.append($0) }
      defer { subscription.cancel() }
      let send = Send(server: Server(), path: ["sent"]).journaled(as: "sent", in: journal)
      let store = OperationClient().store(for: send)
      let before = try self.residentBytes()
      for number in 0..<100 { _ = try await store.mutate(with: Note(id: number, text: "sent")) }
      let counts = kept.all.map(\.count)
      #expect(counts.count > 100 && counts.allSatisfy { $0 == count || $0 == count + 1 })
      return try self.residentBytes() - before
    }

    @Test func `A change of one of 10,000 entries costs its observer what it costs with 10`() async {
      // In a process of its own, because it counts the memory of the whole process.
      await #expect(processExitsWith: .success) {
        let few = try await Self.memoryOfCalls(among: 10)
        let many = try await Self.memoryOfCalls(among: 10_000)
        // 200 copies of all entries would take 48 MB.
        #expect(many - few < 12_000_000, "\(few) and \(many) bytes")
      }
    }
  #endif

  @Test func `Earlier entries that an observer keeps do not change`() async throws {
    let journal = Program(try await storage(withCalls: 200)).makeJournal()
    let kept = Log<JournalEntries>()
    let subscription = journal.subscribe { kept.append($0) }
    #expect(await journal.remove("k100"))
    let first = try #require(kept.all.first)
    let last = try #require(kept.all.last)
    expect(first.count, equals: 200)
    expect(first.map(\.id), equals: (1...200).map { "k\($0)" })
    expect(last.map(\.id), equals: journal.entries.map(\.id))
    expect(last.indices.map { last[$0].id }, equals: last.map(\.id))
    subscription.cancel()
  }
}

/// Stores calls without a scope, with the keys `k1`, `k2` and so on, as a program leaves them.
func storage(withCalls count: Int, scope: String? = nil) async throws -> InMemoryStorage {
  let template = InMemoryStorage()
  try await leaveCalls(["text"], in: template, scope: scope)
  let entry = try #require(try await template.entries(withPrefix: "").first)
  let parts = String(decoding: entry.value, as: UTF8.self).split(separator: "old1", omittingEmptySubsequences: false)
  return InMemoryStorage(
    entries: (1...count).map { number in
      let key = "journal/\(String(repeating: "0", count: 14))\(100_000 + number)-k\(number)"
      return StorageEntry(key: key, value: Array(parts.joined(separator: "k\(number)").utf8))
    }
  )
}
