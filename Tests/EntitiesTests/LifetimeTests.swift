import OperationCore
import OperationEntities
import OperationMutation
import OperationTesting
import TestFixtures
import Testing

/// What is kept of entities, and for how long.
@Suite(.bounded, .warningsAreIssues) struct LifetimeTests {
  private let client = OperationClient()

  @Test func `Of entities that no store has the last thousand are kept at most`() {
    let feed = self.client.feed(initialValue: posts([-1: "held"]))
    for id in 0..<5_000 { self.client.putEntity(Post(id: id, title: "\(id)")) }
    let counts = self.client.entityCounts(of: Post.self)
    #expect(counts.known == counts.unheld + 1 && counts.unheld <= 1_000 && counts.unheld >= 500)
    expect(self.client.entity(Post.self, id: 4_999)?.title, equals: "4999")
    expect(self.client.entity(Post.self, id: 0), equals: nil)
    expect(self.client.entity(Post.self, id: -1)?.title, equals: "held")
    // Held again, and dropped again: each is counted once.
    for id in 4_900..<4_950 {
      feed.currentValue = posts([id: "again"])
      feed.currentValue = []
    }
    #expect(self.client.entityCounts(of: Post.self).unheld <= 1_000)
    expect(self.client.entity(Post.self, id: 4_949)?.title, equals: "again")
  }

  @Test func `A removed store keeps its value, and is none of the stores any more`() {
    let feed = self.client.feed(initialValue: posts([7: "a"]))
    let other = self.client.feed("other", initialValue: posts([7: "a"]))
    self.client.clearStore(with: ["feed"])
    expect(self.client.entityCounts(of: Post.self).stores, equals: 1)
    self.client.putEntity(Post(id: 7, title: "new"))
    expect(feed.currentValue?.first?.title, equals: "a")
    feed.currentValue?[0].title = "its own"
    expect(other.currentValue?.first?.title, equals: "new")
  }

  @Test(arguments: [false, true])
  func `Entities that all stores had do not outlive them when the client forgets its stores`(resets: Bool) {
    let feed = self.client.feed()
    feed.currentValue = posts([7: "secret"])
    self.client.putEntity(Post(id: 8, title: "secret of no store"))
    if resets { self.client.resetStores() } else { self.client.clearStores() }
    expect(self.client.entity(Post.self, id: 7), equals: nil)
    expect(self.client.entity(Post.self, id: 8), equals: nil)
    #expect(self.client.entityCounts(of: Post.self) == (0, 0, resets ? 1 : 0))
    // Later ones are kept as before.
    let other = self.client.feed("other")
    other.currentValue = posts([7: "new"])
    self.client.clearStore(with: ["other"])
    expect(self.client.entity(Post.self, id: 7)?.title, equals: "new")
  }

  @Test func `A store without entities has no observer, and a client without them no table`() {
    let store = self.client.store(for: FeedScript().query(path: ["plain"]).disableAutomaticRunning())
    store.currentValue = posts([7: "a"])
    #expect(self.client.entityCounts(of: Post.self) == (0, 0, 0))
    #expect(!store.context.operationObservers.contains { "\(type(of: $0))".contains("Entity") })
  }

  @Test func `A store is released with its entities, and a pending update does not keep it`() async throws {
    let script = OperationScript<Post, any Error>()
    weak let feed = self.client.feed("gone", initialValue: posts([7: "a"]))
    let mutation = self.client.store(for: EditPost(script: script).withResult)
    let task = Task.immediate { try await mutation.mutate(with: Edit(id: 7)) }
    let run = try await script.next()
    self.client.clearStore(with: ["gone"])
    #expect(feed == nil)
    expect(self.client.entityCounts(of: Post.self).stores, equals: 0)
    run.fail(Refused())
    _ = try? await task.value
  }
}
