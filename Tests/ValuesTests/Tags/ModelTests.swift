import OperationCore
import OperationMutation
import OperationPagination
import OperationTags
import OperationTesting
import TestFixtures
import Testing

/// Random changes, after each of which the index is compared with the tags of the values that the stores show.
@Suite(.bounded, .warningsAreIssues) struct ModelTests {
  private struct Call {
    let task: Task<Post, any Error>
    let run: ScriptedRun<Post, any Error>
  }

  private let cache = OperationClient.DefaultStoreCache()
  private let client: OperationClient
  private let feed = PostsScript()
  private let pages = PostsScript()
  private let edits = OperationScript<Post, any Error>()
  private static let feeds = 3
  private static let ids = 0..<6

  init() {
    self.client = OperationClient(storeCache: self.cache)
  }

  private func store(_ number: Int) -> PostsStore {
    self.client.posts("feed \(number)", self.feed, initialValue: posts(0))
  }

  private func list() -> OperationStore<PageState> {
    let query = PageQuery(script: self.pages).taggedByID("post").disableAutomaticRunning()
      .stale(after: .seconds(1_000_000), whenNoValue: false)
    return self.client.store(
      for: query,
      initialState: PageState(for: query, initialValue: [Page(id: 0, value: posts(1))])
    )
  }

  private func randomPosts(_ generator: inout SeededGenerator) -> [Post] {
    (0..<Int.random(in: 0...3, using: &generator)).map { _ in
      Post(id: Self.ids.randomElement(using: &generator) ?? 0)
    }
  }

  /// The stores that show each post, computed from the values.
  private func model() -> (stores: [Int: Set<OperationPath>], memberships: Int) {
    var stores: [Int: Set<OperationPath>] = [:]
    var memberships = 0
    for store in self.client.stores(matching: []) {
      var parts: [[Post]] = []
      if let value = store.currentValue as? [Post] { parts = [value] }
      if let value = store.currentValue as? Pages<Int, [Post]> { parts = value.map(\.value) }
      for part in parts {
        let ids = Set(part.map(\.id))
        memberships += ids.count
        for id in ids { stores[id, default: []].insert(store.path) }
      }
    }
    return (stores, memberships)
  }

  @Test(arguments: 0..<UInt64(ModelRuns.count(40, parts: 25)))
  func `The index has the tags of what the stores show`(seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed)
    let mutation = EditPost(script: self.edits)
      .optimistic(on: ["feed 0"], of: PostsState.self) { feed, id in feed?.append(Post(id: id)) }
      .optimistic(on: ["pages"], of: PageState.self) { pages, id in
        if !pages.isEmpty { pages[0].value.append(Post(id: id)) }
      }
      .invalidates(tagged: { id, post in [.post(id), .post(post.id)] })
    let mutationStore = self.client.store(for: mutation)
    var (held, calls) = ([PostsStore](), [Call]())
    let list = self.list()
    for step in 0..<10 {
      let number = Int.random(in: 0..<Self.feeds, using: &generator)
      switch Int.random(in: 0..<14, using: &generator) {
      case 0, 1: self.store(number).currentValue = self.randomPosts(&generator)
      case 2:
        let (yielded, value) = (self.randomPosts(&generator), self.randomPosts(&generator))
        self.feed.enqueue(
          .yield(.success(yielded), then: Bool.random(using: &generator) ? .value(value) : .error(Refused()))
        )
        _ = try? await self.store(number).fetch()
      case 3:
        self.feed.enqueue(.yield(.success(self.randomPosts(&generator)), then: .suspend))
        let store = self.store(number)
        let task = Task.immediate { try await store.fetch() }
        _ = try await self.feed.next()
        self.check(seed, step)
        task.cancel()
        _ = try? await task.value
      case 4:
        let id = Self.ids.randomElement(using: &generator) ?? 0
        let task = Task.immediate { try await mutationStore.mutate(with: id) }
        calls.append(Call(task: task, run: try await self.edits.next()))
      case 5:
        guard !calls.isEmpty else { continue }
        let call = calls.removeFirst()
        if Bool.random(using: &generator) { call.run.fail(Refused()) } else { call.run.succeed(Post(id: 2)) }
        _ = try? await call.task.value
      case 6: self.store(number).resetState()
      case 7: self.client.clearStore(with: ["feed \(number)"])
      case 8: held.append(self.store(number))
      case 9:
        held = []
        self.cache.evictIdleStores { _ in true }
      case 10:
        self.pages.enqueue(.value(self.randomPosts(&generator)))
        _ = try? await list.fetchNextPage()
      case 11:
        if let page = list.currentValue.randomElement(using: &generator) { list.currentValue.remove(id: page.id) }
      case 12:
        if let page = list.currentValue.randomElement(using: &generator) {
          list.currentValue[id: page.id]?.value = self.randomPosts(&generator)
        }
      default:
        let id = Self.ids.randomElement(using: &generator) ?? 0
        // Fresh before, so that only the invalidation makes a store stale.
        for store in self.client.stores(matching: []) where store.path.count == 1 && "\(store.path)".contains("feed") {
          if !store.isStale { continue }
          store.uncheckedSetCurrentValue(store.currentValue)
        }
        let stale = Set(self.client.stores(matching: []).filter(\.isStale).map(\.path))
        let expected = self.model().stores[id] ?? []
        self.client.invalidate(tagged: .post(id))
        let now = Set(self.client.stores(matching: []).filter(\.isStale).map(\.path))
        expect(now, equals: stale.union(expected), "seed \(seed), step \(step)")
      }
      self.check(seed, step)
    }
    for call in calls { call.run.fail(Refused()) }
    for call in calls { _ = try? await call.task.value }
    self.check(seed, -1)
    self.client.clearStores()
    #expect(self.client.tagCounts == (0, 0, 0), "seed \(seed)")
  }

  private func check(_ seed: UInt64, _ step: Int) {
    let (stores, memberships) = self.model()
    for id in Self.ids {
      let found = Set(self.client.storePaths(tagged: .post(id)))
      expect(found, equals: stores[id] ?? [], "post \(id), seed \(seed), step \(step)")
    }
    let counts = self.client.tagCounts
    expect(counts.tags, equals: stores.count, "seed \(seed), step \(step)")
    expect(counts.memberships, equals: memberships, "seed \(seed), step \(step)")
    expect(counts.unsettled, equals: 0, "seed \(seed), step \(step)")
  }
}
