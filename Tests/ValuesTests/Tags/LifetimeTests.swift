import OperationCore
import OperationPagination
import OperationTags
import OperationTesting
import TestFixtures
import Testing

/// Nothing is left in the index of what has gone.
@Suite(.bounded, .warningsAreIssues) struct LifetimeTests {
  private let client = OperationClient()

  @Test func `A removed store leaves the index, whoever else has it`() {
    let store = self.client.posts(initialValue: posts(1))
    let constant = self.client.store(for: NumberQuery(1).tagged(.post(1)))
    self.client.clearStores()
    #expect(self.client.tagCounts == (0, 0, 0))
    store.currentValue = posts(2)
    constant.currentValue = 3
    #expect(self.client.tagCounts == (0, 0, 0))
    #expect(self.client.stores(tagged: .post(2)).isEmpty)
    self.client.invalidate(tagged: .post(2))
    #expect(!store.isStale)
  }

  @Test func `A store that is removed alone leaves the index, too`() {
    let store = self.client.posts(initialValue: posts(1))
    self.client.clearStore(with: store.path)
    #expect(self.client.tagCounts == (0, 0, 0))
  }

  @Test func `A store that replaces another has its tags, and those of a value that it got before`() {
    let store = self.client.posts(initialValue: posts(1))
    self.client.withStores(matching: [], of: PostsState.self) { stores, create in
      let query = PostsScript().query(path: ["posts"]).taggedByID("post").disableAutomaticRunning()
      stores.update(create(for: query, initialValue: posts(2)))
    }
    #expect(self.client.stores(tagged: .post(1)).isEmpty)
    expect(self.client.stores(tagged: .post(2)).count, equals: 1)
    expect(self.client.tagCounts.memberships, equals: 1)
    store.currentValue = posts(3)
    #expect(self.client.stores(tagged: .post(3)).isEmpty)
    let last = self.client.withStores(matching: [], of: PostsState.self) { stores, create in
      let made = create(for: PostsScript().query(path: ["posts"]).taggedByID("post").disableAutomaticRunning())
      made.currentValue = posts(3)
      stores.update(made)
      return made
    }
    expect(self.client.stores(tagged: .post(3)).count, equals: 1)
    expect(self.client.tagCounts.memberships, equals: 1)
    last.currentValue = posts(4)
    expect(self.client.stores(tagged: .post(4)).count, equals: 1)
  }

  @Test func `An evicted store leaves the index when it is released, and is found until then`() {
    let cache = OperationClient.DefaultStoreCache()
    let client = OperationClient(storeCache: cache)
    var held: PostsStore? = client.posts("held", initialValue: posts(1))
    _ = client.posts("free", initialValue: posts(1))
    cache.evictIdleStores { _ in true }
    expect(client.paths(tagged: .post(1)), equals: ["[\"held\"]"])
    expect(client.tagCounts.memberships, equals: 1)
    held?.currentValue = posts(2)
    expect(client.paths(tagged: .post(2)), equals: ["[\"held\"]"])
    held = nil
    #expect(client.tagCounts == (0, 0, 0))
  }

  @Test func `A store that is made and never kept is not found, and leaves nothing`() {
    let query = PostsScript().query(path: ["posts"]).taggedByID("post")
    self.client.withStores(matching: [], of: PostsState.self) { _, create in
      let store = create(for: query, initialValue: posts(1))
      #expect(self.client.stores(tagged: .post(1)).isEmpty)
      _ = store
    }
    #expect(self.client.tagCounts == (0, 0, 0))
  }

  @Test func `Values and identifiers are released with their values, also those of pages`() async throws {
    struct Key: Hashable, Sendable {
      let number: Int
      let token: LifetimeTracker.Token

      static func == (lhs: Key, rhs: Key) -> Bool { lhs.number == rhs.number }

      func hash(into hasher: inout Hasher) {
        hasher.combine(self.number)
      }
    }
    let tracker = LifetimeTracker()
    let query = OperationScript<[LifetimeTracker.Token], any Error>().query(path: ["tokens"])
      .tagged { tokens in tokens.enumerated().map { .entity("token", Key(number: $0, token: $1)) } }
    let store = self.client.store(for: query.disableAutomaticRunning())
    store.currentValue = [tracker.token(), tracker.token()]
    expect(tracker.aliveCount, equals: 2)
    // The tag that is equal stays, and so does its identifier.
    store.currentValue = [tracker.token()]
    expect(tracker.aliveCount, equals: 2)
    store.currentValue = []
    try await tracker.noneAlive()

    let list = PageQuery(script: PostsScript()).tagged { page in page.map { .post($0.id) } }
    let pages = self.client.store(for: list.disableAutomaticRunning(), initialState: PageState(for: list))
    pages.currentValue = [Page(id: 0, value: posts(1, 2))]
    expect(self.client.tagCounts.memberships, equals: 2)
    self.client.clearStores()
    #expect(self.client.tagCounts == (0, 0, 0))
  }

  @Test func `A deinitializer of an identifier may use the client`() {
    final class ID: Hashable, Sendable {
      let callback: ReleaseCallback
      init(_ callback: ReleaseCallback) { self.callback = callback }
      static func == (lhs: ID, rhs: ID) -> Bool { true }
      func hash(into hasher: inout Hasher) {}
    }
    let client = self.client
    let released = Log<Bool>()
    let query = OperationScript<Int, any Error>().query(path: ["ids"]).tagged { number in
      number == 0
        ? []
        : [.entity("id", ID(ReleaseCallback { released.append(client.stores(tagged: .post(1)).isEmpty) }))]
    }
    let store = client.store(for: query.disableAutomaticRunning())
    for number in [1, 2, 0, 3] { store.currentValue = number }
    client.clearStores()
    store.currentValue = 4
    #expect(released.count >= 3)
  }

  @Test func `A client that is released takes its index along, while its stores live on`() async throws {
    let tracker = LifetimeTracker()
    var client: OperationClient? = OperationClient()
    weak let released = client
    let query = OperationScript<LifetimeTracker.Token, any Error>().query(path: ["token"])
      .tagged { token in [.entity("token", ObjectIdentifier(token))] }
    var store = client?.store(for: query.disableAutomaticRunning())
    store?.currentValue = tracker.token()
    client = nil
    #expect(released == nil)
    store?.currentValue = tracker.token()
    expect(tracker.aliveCount, equals: 1)
    store = nil
    try await tracker.noneAlive()
  }

  @Test func `A store that is released during its run leaves nothing`() async throws {
    let script = PostsScript()
    let cache = OperationClient.DefaultStoreCache()
    let client = OperationClient(storeCache: cache)
    var store: PostsStore? = client.posts("posts", script, initialValue: posts(1))
    let task = store?.fetchTask()
    let fetch = Task.immediate { try await task?.runIfNeeded() }
    let run = try await script.next()
    store = nil
    client.clearStores()
    #expect(client.tagCounts == (0, 0, 0))
    run.succeed(posts(2))
    _ = try await fetch.value
    #expect(client.tagCounts == (0, 0, 0))
  }

  @Test func `Ten thousand stores with ten tags each are found, changed and gone`() {
    var stores = (0..<10_000).map { number in
      self.client.posts("posts \(number)", initialValue: (0..<10).map { Post(id: number + $0 * 1_000_000) })
    }
    #expect(self.client.tagCounts == (100_000, 100_000, 0))
    expect(self.client.stores(tagged: .post(5_000), .post(3_000_077)).count, equals: 2)
    for store in stores { store.currentValue = posts(-1) }
    #expect(self.client.tagCounts == (1, 10_000, 0))
    self.client.invalidate(tagged: .post(-1))
    #expect(stores.allSatisfy { $0.isStale })
    stores = []
    self.client.clearStores()
    #expect(self.client.tagCounts == (0, 0, 0))
  }
}
