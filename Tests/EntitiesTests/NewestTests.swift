import Foundation
import OperationCore
import OperationDerivation
import OperationEntities
import OperationFallback
import OperationMutation
import OperationPagination
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// Which of two parts is the newer one, and what is left as it was.
@Suite(.bounded, .warningsAreIssues) struct NewestTests {
  private let client = OperationClient()

  @Test func `A run that began before an edit does not bring the older part back`() async throws {
    let script = FeedScript()
    let feed = self.client.feed("feed", script, initialValue: posts([7: "a"]))
    let shown = Log<String>()
    let subscription = feed.subscribe(
      with: QueryEventHandler(onStateChanged: { state, _ in shown.append(state.currentValue?.first?.title ?? "") })
    )
    let task = Task.immediate { try await feed.fetch() }
    let run = try await script.next()
    self.client.putEntity(Post(id: 7, title: "edited"))
    run.succeed(posts([7: "a", 8: "b"]))
    try await expect(task.value.map(\.title), equals: ["edited", "b"])
    expect(feed.currentValue?.map(\.title), equals: ["edited", "b"])
    #expect(!shown.all.drop { $0 == "a" }.contains("a"))
    subscription.cancel()
    // One that begins later does.
    script.enqueue(.value(posts([7: "later"])))
    try await feed.fetch()
    expect(feed.currentValue?.map(\.title), equals: ["later"])
  }

  @Test func `An edit that no store has is kept for a run that is under way`() async throws {
    let script = FeedScript()
    let feed = self.client.feed("feed", script)
    let task = Task.immediate { try await feed.fetch() }
    let run = try await script.next()
    self.client.putEntity(Post(id: 7, title: "edited"))
    run.succeed(posts([7: "a"]))
    try await expect(task.value.map(\.title), equals: ["edited"])
  }

  @Test func `Of two runs the one that began later wins, whichever ends first`() async throws {
    let (early, late) = (FeedScript(), FeedScript())
    let stores = [self.client.feed("early", early), self.client.feed("late", late)]
    let tasks = stores.map { store in Task.immediate { try await store.fetch() } }
    let (first, second) = (try await early.next(), try await late.next())
    second.succeed(posts([7: "late"]))
    _ = try await tasks[1].value
    first.succeed(posts([7: "early"]))
    _ = try await tasks[0].value
    expect(stores.map { $0.currentValue?.first?.title }, equals: ["late", "late"])
  }

  @Test func `A replaced part leaves the value as old and as stale as it was`() async throws {
    let (feed, script) = (self.client.feed(initialValue: posts([7: "a"])), DetailScript())
    let detail = self.client.detail("detail", script)
    script.enqueue(.value(Detail(post: Post(id: 7, title: "a"))))
    try await detail.fetch()
    let (date, count, kind) = (detail.valueLastUpdatedAt, detail.valueUpdateCount, detail.valueStamp.kind)
    self.client.invalidate(matching: ["detail"])
    feed.currentValue?[0].title = "new"
    expect(detail.currentValue?.post.title, equals: "new")
    #expect(detail.isStale && detail.isInvalidated)
    #expect(detail.valueLastUpdatedAt == date && detail.valueUpdateCount == count && detail.valueStamp.kind == kind)
  }

  @Test func `What a run yields shows nowhere else, and is rolled back to the newest`() async throws {
    let script = FeedScript()
    let feed = self.client.feed("feed", script, initialValue: posts([7: "a"]))
    let other = self.client.feed("other", initialValue: posts([7: "a"]))
    let task = Task.immediate { try await feed.fetch() }
    let run = try await script.next()
    run.yield(posts([7: "yielded"]))
    expect(feed.currentValue?.first?.title, equals: "yielded")
    expect(other.currentValue?.first?.title, equals: "a")
    self.client.putEntity(Post(id: 7, title: "edited"))
    expect(feed.currentValue?.first?.title, equals: "edited")
    run.yield(posts([7: "yielded"]))
    expect(feed.currentValue?.first?.title, equals: "edited")
    task.cancel()
    _ = try? await task.value
    expect(feed.currentValue?.first?.title, equals: "edited")
    expect(other.currentValue?.first?.title, equals: "edited")
  }

  @Test func `Values of which none has come from a run are left as they are, until one does`() async throws {
    let script = DetailScript()
    let feed = self.client.feed(initialValue: posts([7: "a", 8: "b"]))
    let detail = self.client.detail("detail", script, initialValue: Detail(post: Post(id: 7, title: "other")))
    expect(detail.currentValue?.post.title, equals: "other")
    expect(feed.currentValue?.first?.title, equals: "a")
    // A set edits what it changes, and not what else is in the value.
    feed.currentValue?[1].title = "new"
    expect(detail.currentValue?.post.title, equals: "other")
    script.enqueue(.value(Detail(post: Post(id: 7, title: "fetched"))))
    try await detail.fetch()
    expect(feed.currentValue?.map(\.title), equals: ["fetched", "new"])
  }

  @Test func `An edit can be taken back by a set`() {
    let feed = self.client.feed(initialValue: posts([7: "a"]))
    let other = self.client.feed("other", initialValue: posts([7: "a"]))
    self.client.putEntity(Post(id: 7, title: "edited"))
    feed.currentValue = posts([7: "a"])
    expect(feed.currentValue?.first?.title, equals: "a")
    expect(other.currentValue?.first?.title, equals: "a")
  }

  @Test func `A value that is handed over brings what is later, and nothing that is earlier`() async throws {
    let clock = ManualClock()
    func client() -> OperationClient {
      var context = OperationContext()
      context.use(clock)
      return OperationClient(defaultContext: context)
    }
    func page(_ client: OperationClient) -> FeedStore {
      client.store(
        for: FeedScript().query(path: ["page"]).entities { $0.each(\.self) }.hydratable(as: "page")
          .stale(after: .seconds(1_000_000), whenNoValue: false).disableAutomaticRunning()
      )
    }
    let (server, own) = (client(), client())
    page(own).currentValue = posts([7: "first"])
    clock.advance(by: .seconds(10))
    page(server).currentValue = posts([7: "of the server"])
    let earlier = server.dehydrate()
    clock.advance(by: .seconds(10))
    let feed = own.feed()
    feed.currentValue = posts([7: "edited"])
    expect(page(own).currentValue?.first?.title, equals: "edited")
    own.hydrate(earlier)
    expect(page(own).currentValue?.first?.title, equals: "edited")
    expect(feed.currentValue?.first?.title, equals: "edited")
    clock.advance(by: .seconds(10))
    page(server).currentValue = posts([7: "later"])
    own.hydrate(server.dehydrate())
    expect(page(own).currentValue?.first?.title, equals: "later")
    expect(feed.currentValue?.first?.title, equals: "later")
  }

  @Test(arguments: [true, false])
  func `A fallback teaches nothing, inside and outside`(isInside: Bool) async throws {
    let feed = self.client.feed()
    feed.currentValue = posts([7: "a"])
    let script = FeedScript(default: .error(Refused()))
    let store: FeedStore
    if isInside {
      store = self.client.store(
        for: script.query(path: ["f"]).fallback(posts([7: "fallback"])).entities { $0.each(\.self) }
      )
    } else {
      store = self.client.store(
        for: script.query(path: ["f"]).entities { $0.each(\.self) }.fallback(posts([7: "fallback"]))
      )
    }
    try await store.fetch()
    expect(store.currentValue?.map(\.title), equals: ["fallback"])
    expect(feed.currentValue?.map(\.title), equals: ["a"])
    self.client.putEntity(Post(id: 7, title: "edited"))
    expect(store.currentValue?.map(\.title), equals: ["edited"])
  }

  @Test func `A value that was restored late is not newer than an edit`() async throws {
    let storage = InMemoryStorage()
    self.client.defaultContext.operationStorage = storage
    func feed() -> FeedStore {
      self.client.store(
        for: FeedScript().query(path: ["stored"]).entities { $0.each(\.self) }
          .stale(after: .seconds(1_000_000), whenNoValue: false).persisted(as: "stored").disableAutomaticRunning()
      )
    }
    feed().currentValue = posts([7: "stored"])
    await self.client.flush()
    self.client.clearStores()
    let other = self.client.feed("other", initialValue: posts([7: "a"]))
    other.currentValue = posts([7: "edited"])
    let restored = feed()
    expect(restored.currentValue?.map(\.title), equals: ["edited"])
    expect(other.currentValue?.map(\.title), equals: ["edited"])
    // The edit is a part of what is stored.
    await self.client.flush()
    let next = OperationClient()
    next.defaultContext.operationStorage = storage
    let again = next.store(
      for: FeedScript().query(path: ["stored"]).persisted(as: "stored").disableAutomaticRunning()
    )
    expect(again.currentValue?.map(\.title), equals: ["edited"])
  }

  @Test func `A derived query follows its sources`() async throws {
    let feed = self.client.feed()
    feed.currentValue = posts([7: "a", 8: "b"])
    let titles = QueryOperation<String, any Error>("titles") { context in
      try await context.value(of: FeedScript().query(path: ["feed"])).map(\.title).joined()
    }
    let derived = self.client.store(for: titles.derived())
    let subscription = derived.subscribe(with: QueryEventHandler())
    try await expect(derived.fetch(), equals: "ab")
    self.client.putEntity(Post(id: 7, title: "new"))
    await derived.settled()
    expect(derived.currentValue, equals: "newb")
    subscription.cancel()
    expect(feed.currentValue?.count, equals: 2)
  }

  @Test func `A derived query with entities reports it, and is left as its sources are`() async throws {
    // A source without entities, which the edit does not reach.
    let source = self.client.store(
      for: FeedScript().query(path: ["source"]).stale(after: .seconds(1_000_000)).disableAutomaticRunning()
    )
    source.currentValue = posts([7: "old"])
    let feed = self.client.feed(initialValue: posts([7: "a"]))
    self.client.putEntity(Post(id: 7, title: "edited"))
    let first = QueryOperation<[Post], any Error>("first") { context in
      try await context.value(of: FeedScript().query(path: ["source"]))
    }
    let derived = self.client.store(for: first.derived().entities { $0.each(\.self) })
    let read = try await expectWarning(.modifiersIgnored) { try await derived.fetch() }
    expect(read.map(\.title), equals: ["old"])
    self.client.putEntity(Post(id: 7, title: "edited again"))
    expect(derived.currentValue?.map(\.title), equals: ["old"])
    expect(feed.currentValue?.map(\.title), equals: ["edited again"])
    source.currentValue = posts([7: "newer"])
    try await expect(derived.fetch().map(\.title), equals: ["newer"])
    expect(feed.currentValue?.map(\.title), equals: ["edited again"])
  }

  @Test func `A client that has forgotten its user has forgotten the entities`() async throws {
    let script = FeedScript(endsOnCancellation: false)
    let feed = self.client.feed("feed", script, initialValue: posts([7: "secret"]))
    #expect(feed.currentValue != nil)
    let task = Task.immediate { try await feed.fetch() }
    let run = try await script.next()
    let clearing = Task.immediate { [client = self.client] in try await client.clearEverything() }
    run.succeed(posts([7: "secret"]))
    try await clearing.value
    _ = try? await task.value
    expect(self.client.entity(Post.self, id: 7), equals: nil)
    expect(self.client.feed("feed", initialValue: posts([7: "a"])).currentValue?.map(\.title), equals: ["a"])
  }

  @Test func `A part that is unequal to itself ends no store's rest`() {
    struct Measure: Identifiable, Equatable, Sendable {
      let id: Int
      var value: Double
    }
    func store(_ name: String, _ value: Double) -> OperationStore<QueryState<Measure, any Error>> {
      self.client.store(
        for: OperationScript<Measure, any Error>().query(path: [name]).entities { $0.one(\.self) }
          .disableAutomaticRunning(),
        initialValue: Measure(id: 1, value: value)
      )
    }
    let (first, second) = (store("first", 1), store("second", 1))
    first.currentValue?.value = .nan
    expect(second.currentValue?.value, equals: 1)
    second.currentValue?.value = 2
    expect(first.currentValue?.value, equals: 2)
  }
}
