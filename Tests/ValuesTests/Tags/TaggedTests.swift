import OperationCore
import OperationMutation
import OperationTags
import OperationTesting
import TestFixtures
import Testing

/// What the modifiers say.
@Suite(.bounded, .warningsAreIssues) struct TaggedTests {
  private let client = OperationClient()

  @Test func `Tags that do not depend on the value are there from the beginning`() {
    let store = self.client.store(for: NumberQuery(1).tagged(OperationTag("a"), OperationTag("b")))
    expect(self.client.storePaths(tagged: OperationTag("a")), equals: [store.path])
    expect(self.client.stores(tagged: OperationTag("b")).count, equals: 1)
    store.currentValue = 5
    store.resetState()
    expect(self.client.tagCounts.memberships, equals: 2)
  }

  @Test func `A mutation can have tags that do not depend on its value`() {
    let store = self.client.store(for: EditPost(script: .init()).tagged(OperationTag("edits")))
    expect(self.client.storePaths(tagged: OperationTag("edits")), equals: [store.path])
  }

  @Test func `Several modifiers add up, and a tag that two of them name is there once`() {
    let query = PostsScript().query(path: ["posts"])
      .tagged { posts in posts.map { .post($0.id) } }
      .tagged(OperationTag("posts"))
      .tagged { posts in [OperationTag("posts"), .entity("count", posts.count)] }
      .disableAutomaticRunning()
    let store = self.client.store(for: query, initialValue: posts(1, 1, 2))
    for tag in [.post(1), .post(2), OperationTag("posts"), .entity("count", 3)] {
      expect(self.client.storePaths(tagged: tag), equals: [store.path], "\(tag)")
    }
    #expect(self.client.tagCounts == (4, 4, 0))
    store.currentValue = []
    #expect(self.client.tagCounts == (2, 2, 0))
  }

  @Test func `A value, an optional value and a sequence can be tagged by their identifiers`() {
    func query<Value: Sendable>(_ type: Value.Type, _ name: String) -> ScriptedQuery<Value, any Error> {
      OperationScript<Value, any Error>().query(path: [name])
    }
    let one = self.client.store(for: query(Post.self, "one").taggedByID("post").disableAutomaticRunning())
    let maybe = self.client.store(for: query(Post?.self, "maybe").taggedByID("post").disableAutomaticRunning())
    one.currentValue = Post(id: 1)
    maybe.currentValue = .some(.some(Post(id: 1)))
    let list = self.client.posts("list", initialValue: posts(1, 2))
    expect(self.client.stores(tagged: .post(1)).count, equals: 3)
    maybe.currentValue = .some(.none)
    expect(self.client.stores(tagged: .post(1)).count, equals: 2)
    _ = list
  }

  @Test func `More than eight tags are found, and only those that differ are replaced`() {
    let store = self.client.posts(initialValue: (0..<100).map { Post(id: $0) })
    expect(self.client.tagCounts.tags, equals: 100)
    store.currentValue = (50..<150).map { Post(id: $0) }
    expect(self.client.tagCounts.tags, equals: 100)
    for id in 0..<150 { expect(self.client.stores(tagged: .post(id)).isEmpty, equals: (id < 50)) }
  }

  @Test func `A store has a tag once, and many stores can have the same tag`() {
    let stores = (0..<20).map { self.client.posts("posts \($0)", initialValue: posts(1, $0 + 100)) }
    expect(self.client.stores(tagged: .post(1)).count, equals: 20)
    expect(self.client.stores(tagged: .post(1), .post(100), .post(101)).count, equals: 20)
    expect(self.client.stores(tagged: .post(100), .post(101), .post(999)).count, equals: 2)
    for store in stores.dropLast() { store.currentValue = [] }
    expect(self.client.storePaths(tagged: .post(1)), equals: [["posts 19"]])
    #expect(self.client.stores(tagged: []).isEmpty)
  }

  @Test func `A store that belongs to no client has no tags`() {
    let store = OperationStore.detached(query: PostsScript().query(path: ["posts"]).taggedByID("post"))
    store.currentValue = posts(1)
    #expect(self.client.stores(tagged: .post(1)).isEmpty)
    #expect(self.client.tagCounts == (0, 0, 0))
  }

  @Test func `Two clients know nothing of each other's stores`() {
    let other = OperationClient()
    let stores = [self.client.posts(initialValue: posts(1)), other.posts(initialValue: posts(1))]
    self.client.invalidate(tagged: .post(1))
    #expect(stores[0].isStale)
    #expect(!stores[1].isStale)
  }

  @Test func `A store that an operation makes in its run does not inherit the operation's tags`() async throws {
    let client = self.client
    let query = OperationScript<Int, any Error>().query(path: ["inner"])
    let store = client.store(for: NumberQuery(1).tagged(OperationTag("outer")))
    let inner = OperationStore.detached(query: query, initialContext: store.context)
    expect(client.storePaths(tagged: OperationTag("outer")), equals: [store.path])
    expect(client.tagCounts.memberships, equals: 1)
    _ = inner
  }
}
