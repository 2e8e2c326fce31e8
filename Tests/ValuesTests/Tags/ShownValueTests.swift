import OperationCore
import OperationMutation
import OperationPersistence
import OperationTags
import OperationTesting
import TestFixtures
import Testing

/// The tags of a store are those of the value that it shows.
@Suite(.bounded, .warningsAreIssues) struct ShownValueTests {
  private let client = OperationClient()

  @Test func `A value that is set replaces the tags of the one before`() {
    let store = self.client.posts()
    expect(self.client.tagCounts.tags, equals: 0)
    store.currentValue = posts(1, 2)
    expect(self.client.paths(tagged: .post(1)), equals: ["[\"posts\"]"])
    store.currentValue = posts(2, 3)
    expect(self.client.paths(tagged: .post(1)), equals: [])
    expect(self.client.paths(tagged: .post(2)).count, equals: 1)
    expect(self.client.paths(tagged: .post(3)).count, equals: 1)
    store.currentValue = nil
    #expect(self.client.tagCounts == (0, 0, 0))
  }

  @Test func `The initial value has tags, and a reset restores them`() {
    let store = self.client.posts(initialValue: posts(1))
    expect(self.client.paths(tagged: .post(1)).count, equals: 1)
    store.currentValue = posts(2)
    store.resetState()
    expect(self.client.paths(tagged: .post(1)).count, equals: 1)
    expect(self.client.paths(tagged: .post(2)), equals: [])
  }

  @Test func `A yielded value has its tags until the next one, and a cancelled run gives them back`() async throws {
    let script = PostsScript()
    let store = self.client.posts("posts", script, initialValue: posts(1))
    let first = Task.immediate { try await store.fetch() }
    let run = try await script.next()
    run.yield(posts(2))
    expect(self.client.paths(tagged: .post(1)), equals: [])
    expect(self.client.paths(tagged: .post(2)).count, equals: 1)
    run.succeed(posts(3))
    _ = try await first.value
    expect(self.client.paths(tagged: .post(2)), equals: [])
    expect(self.client.paths(tagged: .post(3)).count, equals: 1)

    let second = Task.immediate { try await store.fetch() }
    try await script.next().yield(posts(4))
    expect(self.client.paths(tagged: .post(4)).count, equals: 1)
    second.cancel()
    _ = try? await second.value
    expect(self.client.paths(tagged: .post(4)), equals: [])
    expect(self.client.paths(tagged: .post(3)).count, equals: 1)
  }

  @Test func `A store without a value keeps its constant tag beside a rule about values`() async throws {
    let script = PostsScript(default: .error(Refused()))
    let query = script.query(path: ["posts"]).tagged(OperationTag("lists"))
      .tagged { posts in posts.map { .post($0.id) } }
    let store = self.client.store(for: query)
    expect(self.client.paths(tagged: OperationTag("lists")).count, equals: 1)
    _ = try? await store.fetch()
    expect(self.client.paths(tagged: OperationTag("lists")).count, equals: 1)
    store.currentValue = posts(1)
    store.currentValue = nil
    expect(self.client.paths(tagged: OperationTag("lists")).count, equals: 1)
    expect(self.client.paths(tagged: .post(1)), equals: [])
    let subscription = store.subscribe(with: QueryEventHandler())
    try await script.noActiveRuns()
    let count = script.runCount
    await self.client.invalidate(tagged: OperationTag("lists")).settled()
    expect(script.runCount, equals: count + 1)
    subscription.cancel()
  }

  @Test func `An error leaves the tags of the value that stays`() async {
    let script = PostsScript(default: .error(Refused()))
    let store = self.client.posts("posts", script, initialValue: posts(1))
    _ = try? await store.fetch()
    #expect(store.error is Refused)
    expect(self.client.paths(tagged: .post(1)).count, equals: 1)
  }

  @Test func `A restored value has its tags`() async throws {
    let storage = InMemoryStorage()
    func makeStore() async -> (OperationClient, PostsStore) {
      let client = OperationClient()
      client.defaultContext.operationStorage = storage
      _ = await client.restore()
      let query = PostsScript().query(path: ["posts"]).persisted(as: "posts").taggedByID("post")
      return (client, client.store(for: query.disableAutomaticRunning()))
    }
    let (first, store) = await makeStore()
    store.currentValue = posts(7)
    #expect(await first.persistence.flush())
    let (second, restored) = await makeStore()
    expect(restored.currentValue, equals: posts(7))
    expect(second.paths(tagged: .post(7)).count, equals: 1)
  }

  @Test func `An optimistic update has its tags while it is shown`() async throws {
    let script = OperationScript<Post, any Error>()
    let feed = self.client.posts("feed", initialValue: posts(1))
    let mutation = EditPost(script: script).optimistic(on: ["feed"], of: PostsState.self) { feed, id in
      feed?.append(Post(id: id))
    }
    let store = self.client.store(for: mutation)

    let failing = Task.immediate { try await store.mutate(with: 2) }
    let failingRun = try await script.next()
    expect(self.client.paths(tagged: .post(2)).count, equals: 1)
    // A value below the update keeps the update's tags.
    feed.currentValue = posts(9)
    expect(self.client.paths(tagged: .post(2)).count, equals: 1)
    expect(self.client.paths(tagged: .post(9)).count, equals: 1)
    expect(self.client.paths(tagged: .post(1)), equals: [])
    failingRun.fail(Refused())
    _ = try? await failing.value
    expect(self.client.paths(tagged: .post(2)), equals: [])
    expect(self.client.paths(tagged: .post(9)).count, equals: 1)

    let succeeding = Task.immediate { try await store.mutate(with: 3) }
    try await script.next().succeed(Post(id: 3))
    _ = try await succeeding.value
    expect(feed.currentValue, equals: posts(9, 3))
    expect(self.client.paths(tagged: .post(3)).count, equals: 1)
  }

  @Test func `A default value has its tags while it is shown, wherever the modifier stands`() {
    let script = PostsScript()
    let inside = script.query(path: ["inside"]).taggedByID("post").defaultValue(posts(1)).disableAutomaticRunning()
    let outside = script.query(path: ["outside"]).defaultValue(posts(1)).taggedByID("post").disableAutomaticRunning()
    let stores = [self.client.store(for: inside), self.client.store(for: outside)]
    expect(self.client.stores(tagged: .post(1)).count, equals: 2)
    for store in stores { store.currentValue = posts(2) }
    #expect(self.client.stores(tagged: .post(1)).isEmpty)
    expect(self.client.stores(tagged: .post(2)).count, equals: 2)
  }
}
