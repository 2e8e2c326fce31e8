import OperationCore
import OperationMutation
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// What observers of the entries receive, and what it costs.
@Suite(.warningsAreIssues) struct JournalEntriesTests {
  /// The shortest time for 100 changes of one of many entries, of several tries.
  private func cost(among count: Int) async throws -> Duration {
    let journal = Program(try await storage(withCalls: count)).makeJournal()
    let counts = Log<Int>()
    let subscription = journal.subscribe { counts.append($0.count) }
    var best = Duration.seconds(60)
    let store = OperationClient().store(for: Send(server: Server(), path: ["sent"]).journaled(as: "sent", in: journal))
    for _ in 0..<5 {
      let start = ContinuousClock.now
      for number in 0..<100 { _ = try await store.mutate(with: Note(id: number, text: "sent")) }
      best = min(best, start.duration(to: .now))
    }
    subscription.cancel()
    #expect(counts.all.count > 100)
    #expect(counts.all.allSatisfy { $0 == count || $0 == count + 1 })
    return best
  }

  @Test func `A change of one of 10,000 entries costs its observer what it costs with 10`() async throws {
    let few = try await self.cost(among: 10)
    let many = try await self.cost(among: 10_000)
    // Copying all entries takes about 100 times as long.
    #expect(many < few * 8)
  }

  @Test func `Earlier entries that an observer keeps do not change`() async throws {
    let journal = Program(try await storage(withCalls: 200)).makeJournal()
    let kept = Log<JournalEntries>()
    let subscription = journal.subscribe { kept.append($0) }
    #expect(await journal.remove("k100"))
    let first = try #require(kept.all.first)
    let last = try #require(kept.all.last)
    #expect(first.count == 200)
    #expect(first.map(\.id) == (1...200).map { "k\($0)" })
    #expect(last.map(\.id) == journal.entries.map(\.id))
    #expect(last.indices.map { last[$0].id } == last.map(\.id))
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
