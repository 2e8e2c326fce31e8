import OperationCore
import OperationMutation
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues)
struct PathKeyTests {
  private let feeds = Feeds()
  private let script = Script()
  private let all = OperationPathPrefix<FeedState>(path: ["feed"])

  private func key(_ number: Int) -> OperationPathKey<FeedState> { OperationPathKey(path: ["feed", number]) }

  @Test func `An update on a key or a prefix changes the stores there, of the state of the key`() async throws {
    let (first, second) = (self.feeds.store(1), self.feeds.store(2))
    let key = self.key(1)
    let mutation = Mutation(script: self.script)
      .optimistic(on: key) { feed, name in feed?.append("key \(name)") }
      .optimistic(on: { name in OperationPathKey<FeedState>(path: ["feed", name.count]) }) { feed, _ in
        feed?.append("counted")
      }
      .optimistic(on: self.all) { feed, _ in feed?.append("all") }
    let call = self.feeds.client.store(for: mutation).begin("ab")

    expect(first.currentValue?.sorted(), equals: ["all", "key ab", "old"])
    expect(second.currentValue?.sorted(), equals: ["all", "counted", "old"])
    try await self.script.next().succeed("made")
    _ = try await call.value
  }

  @Test func `An invalidation of a key or a prefix marks the stores there`() async throws {
    let stores = (1...4).map {
      self.feeds.client.store(for: self.feeds.script.query(path: ["feed", $0]).stale(after: .seconds(60)))
    }
    func fill() { for store in stores { store.currentValue = ["set"] } }
    func staleNumbers() -> [Int] { zip(1..., stores).filter { $1.isStale }.map(\.0) }
    let key = self.key(1)
    let script = Script(default: .value("made"))

    fill()
    let byKeys = Mutation(script: script).invalidates(matching: key)
      .invalidates(matching: { name in OperationPathKey<FeedState>(path: ["feed", name.count]) })
    _ = try await self.feeds.client.store(for: byKeys).mutate(with: "abc")
    expect(staleNumbers(), equals: [1, 3])

    fill()
    var byPrefix = Mutation(script: script)
    byPrefix.path = ["prefix"]
    _ = try await self.feeds.client.store(for: byPrefix.invalidates(matching: self.all)).mutate(with: "abc")
    expect(staleNumbers(), equals: [1, 2, 3, 4])

    fill()
    self.feeds.client.invalidate(matching: self.key(2))
    expect(staleNumbers(), equals: [2])
    self.feeds.client.invalidate(matching: self.all, rerunning: .none)
    expect(staleNumbers(), equals: [1, 2, 3, 4])
  }
}
