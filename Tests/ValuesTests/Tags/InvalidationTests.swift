import OperationCore
import OperationMutation
import OperationTags
import OperationTesting
import TestFixtures
import Testing

/// Invalidating by tags is invalidating by paths, for other stores.
@Suite(.bounded, .warningsAreIssues) struct InvalidationTests {
  private let client = OperationClient()

  private func automatic(_ name: String, _ script: PostsScript) -> PostsStore {
    self.client.store(
      for: script.query(path: [name]).taggedByID("post").stale(after: .seconds(1_000_000), whenNoValue: false),
      initialValue: posts(1)
    )
  }

  @Test func `Stores with the tag are stale whatever their rules say, and no others`() {
    let tagged = self.client.posts("tagged", initialValue: posts(1, 2))
    let other = self.client.posts("other", initialValue: posts(2, 3))
    self.client.invalidate(tagged: .post(1))
    #expect(tagged.isStale)
    #expect(!other.isStale)
    tagged.currentValue = posts(1)
    #expect(!tagged.isStale)
    self.client.invalidate(tagged: [.post(1), .post(3)])
    #expect(tagged.isStale)
    #expect(other.isStale)
    self.client.invalidate(tagged: .post(99))
  }

  @Test func `Stores with subscribers run again, and settled waits for them`() async throws {
    let (watched, unwatched) = (PostsScript(), PostsScript())
    let stores = [self.automatic("watched", watched), self.automatic("unwatched", unwatched)]
    let subscription = stores[0].subscribe(with: QueryEventHandler())
    expect(watched.runCount, equals: 0)
    let invalidation = self.client.invalidate(tagged: .post(1))
    let settled = Task.immediate { await invalidation.settled() }
    try await watched.next().succeed(posts(1, 2))
    await settled.value
    expect(stores[0].currentValue, equals: posts(1, 2))
    #expect(!stores[0].isStale)
    expect(unwatched.runCount, equals: 0)
    #expect(stores[1].isStale)
    subscription.cancel()
  }

  @Test func `A call after the invalidation is not served by a run from before it`() async throws {
    let script = PostsScript()
    let store = self.client.store(
      for: script.query(path: ["posts"]).taggedByID("post").disableAutomaticRunning(),
      initialValue: posts(1)
    )
    let first = Task.immediate { try await store.fetch() }
    let early = try await script.next()
    self.client.invalidate(tagged: .post(1))
    let second = Task.immediate { try await store.fetch() }
    let late = try await script.next()
    late.succeed(posts(2))
    try await expect(second.value, equals: posts(2))
    early.succeed(posts(3))
    _ = try? await first.value
    expect(store.currentValue, equals: posts(2))
  }

  @Test func `The value of a run that began before an invalidation of its tag is stale`() async throws {
    let script = PostsScript()
    let store = self.client.posts("posts", script, initialValue: posts(1))
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await script.next()
    // Nobody knows the tags of the coming value.
    self.client.invalidate(tagged: .post(2))
    run.succeed(posts(1, 2))
    try await expect(fetch.value, equals: posts(1, 2))
    #expect(store.isStale)
    #expect(store.staleness.description.contains("a tag of the value during its run"))
    // A run that began after it has seen it.
    let second = Task.immediate { try await store.fetch() }
    try await script.next().succeed(posts(1, 2))
    _ = try await second.value
    #expect(!store.isStale)
  }

  @Test func `A store with subscribers runs once more after a run whose tag was invalidated`() async throws {
    let script = PostsScript()
    let store = self.automatic("posts", script)
    let subscription = store.subscribe(with: QueryEventHandler())
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await script.next()
    self.client.invalidate(tagged: .post(2))
    run.succeed(posts(2))
    _ = try await fetch.value
    try await script.next().succeed(posts(2, 3))
    for await element in store.states where element.state.currentValue == posts(2, 3) { break }
    #expect(!store.isStale)
    expect(script.runCount, equals: 2)
    subscription.cancel()
  }

  @Test func `A yielded value with a tag that was invalidated during its run is followed by a stale one`() async throws
  {
    let script = PostsScript()
    let store = self.client.posts("posts", script)
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await script.next()
    self.client.invalidate(tagged: .post(2))
    run.yield(posts(2))
    #expect(store.isInvalidated)
    run.succeed(posts(2))
    _ = try await fetch.value
    #expect(store.isInvalidated)
  }

  @Test func `A value that comes back when a run is cancelled has missed what was invalidated meanwhile`() async throws
  {
    let script = PostsScript()
    let store = self.client.posts("posts", script)
    store.currentValue = posts(1)
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await script.next()
    run.yield(posts(2))
    expect(store.currentValue, equals: posts(2))
    // No store shows it.
    self.client.invalidate(tagged: .post(1))
    #expect(!store.isInvalidated)
    fetch.cancel()
    _ = try? await fetch.value
    expect(store.currentValue, equals: posts(1))
    #expect(store.isStale)
    run.succeed([])
  }

  @Test func `Tags that a value shows only with an optimistic update, or that were invalidated before, change nothing`()
    async throws
  {
    let script = PostsScript()
    let store = self.client.posts("posts", script)
    store.currentValue = posts(1)
    self.client.invalidate(tagged: .post(2), .post(3))
    store.currentValue = posts(1, 2)
    #expect(!store.isStale)
    let edit = OperationScript<Post, any Error>()
    let mutation = self.client.store(
      for: EditPost(script: edit).optimistic(on: ["posts"], of: PostsState.self) { value, id in
        value = (value ?? []) + posts(id)
      }
    )
    let call = Task.immediate { try await mutation.mutate(with: 3) }
    let run = try await edit.next()
    expect(store.currentValue, equals: posts(1, 2, 3))
    #expect(!store.isInvalidated)
    run.succeed(Post(id: 3))
    _ = try await call.value
    expect(store.currentValue, equals: posts(1, 2, 3))
    #expect(!store.isInvalidated)
  }

  @Test func `A store with several pages or tags is invalidated once`() async throws {
    let script = PostsScript()
    let store = self.automatic("posts", script)
    store.currentValue = posts(1, 2, 3)
    let subscription = store.subscribe(with: QueryEventHandler())
    let invalidation = self.client.invalidate(tagged: .post(1), .post(2), .post(3))
    try await script.next().succeed([])
    await invalidation.settled()
    expect(script.runCount, equals: 1)
    subscription.cancel()
  }

  @Test func `A handler finds the tags of the value that it is notified of, and of one that it sets`() {
    let found = Log<Int>()
    let store = self.client.posts()
    let subscription = store.subscribe(
      with: QueryEventHandler(onStateChanged: { [client] state, _ in
        guard state.currentValue == posts(1) else { return }
        found.append(client.stores(tagged: .post(1)).count)
        store.currentValue = posts(2)
        found.append(client.stores(tagged: .post(2)).count)
        found.append(client.stores(tagged: .post(1)).count)
      })
    )
    store.currentValue = posts(1)
    expect(found.all, equals: [1, 1, 0])
    subscription.cancel()
  }

  @Test func `Values that are set during exclusive access are found at once, and afterwards`() {
    let store = self.client.posts()
    store.withExclusiveAccess { store in
      store.currentValue = posts(1)
      expect(self.client.stores(tagged: .post(1)).count, equals: 1)
      self.client.invalidate(tagged: .post(1))
      #expect(store.isStale)
      for id in 2..<100 { store.currentValue = posts(id) }
    }
    #expect(self.client.tagCounts == (1, 1, 0))
    expect(self.client.stores(tagged: .post(99)).count, equals: 1)
  }

  @Test func `The closure that returns tags runs with no lock held`() {
    final class Probe: Sendable {
      let stores = Log<PostsStore>()
      let results = Log<Bool>()
    }
    let probe = Probe()
    let client = self.client
    let query = PostsScript().query(path: ["probe"]).tagged { posts in
      if let store = probe.stores.all.first {
        probe.results.append(
          finishesElsewhere {
            _ = store.currentValue
            _ = client.stores(matching: [])
            _ = client.tagCounts
          }
        )
      }
      return posts.map { .post($0.id) }
    }
    let store = client.store(for: query.disableAutomaticRunning())
    probe.stores.append(store)
    store.currentValue = posts(1)
    store.resetState()
    #expect(!probe.results.all.isEmpty)
    #expect(probe.results.all.allSatisfy { $0 })
  }

  @Test func `A rule for other values than the store shows is reported, and the other tags hold`() {
    let store = expectWarning(.stateMismatch) {
      self.client.store(for: ForeignTags().tagged(OperationTag("posts")), initialValue: posts(1))
    }
    expect(self.client.storePaths(tagged: OperationTag("posts")), equals: [store.path])
    expect(self.client.tagCounts.memberships, equals: 1)
  }
}

/// A query that sets up the tags of a query with other values.
private struct ForeignTags: QueryRequest, Hashable {
  func setup(context: inout OperationContext) {
    NumberQuery(1).tagged { number in [.post(number)] }.setup(context: &context)
  }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<[Post], any Error>
  ) async throws -> [Post] {
    []
  }
}
