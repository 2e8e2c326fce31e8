import CoreFixtures
import FoundationEssentials
import OperationCore
import OperationEvents
import OperationFreshness
import OperationTesting
import TestFixtures
import Testing

/// A store begins with the value of its level.
@Suite(.bounded, .warningsAreIssues) struct KeptValueTests {
  private let gate = Gate()

  // MARK: - At hand

  @Test func `A store begins with the value at hand, and makes no request while it is fresh`() async throws {
    let post = KeptPost()
    post.fill("kept", secondsAgo: 59)
    let store = post.store()
    expect(store.currentValue, equals: "kept")
    #expect(!store.isStale)
    let subscription = store.subscribe(with: QueryEventHandler())
    defer { subscription.cancel() }
    try await expect(post.client.ensureValue(for: post.query()), equals: "kept")
    expect(post.script.runCount, equals: 0)
    post.clock.advance(by: .seconds(1))
    #expect(store.isStale)
  }

  @Test func `A value at hand that is too old is shown, and fetched again`() async throws {
    let post = KeptPost()
    post.fill("kept", secondsAgo: 60)
    let store = post.store()
    expect(store.currentValue, equals: "kept")
    #expect(store.isStale)
    let value = Task.immediate { try await post.client.ensureValue(for: post.query()) }
    try await post.script.next().succeed("new")
    try await expect(value.finished(), equals: "new")
    expect(post.shelf.text(), equals: "new")
  }

  @Test func `A level without a value leaves a store empty`() async throws {
    let post = KeptPost()
    post.shelf.fill("other", at: ["posts", 2], date: post.clock.now())
    let store = post.store()
    expect(store.currentValue, equals: nil)
    #expect(store.isStale)
    expect(post.store(at: ["posts", 2]).currentValue, equals: "other")
  }

  @Test func `A reset removes the kept value`() async throws {
    let post = KeptPost()
    try await post.fetch("first", in: post.store())
    post.client.clearStores()
    expect(post.store().currentValue, equals: "first")
    post.client.clearStores()
    post.store().resetState()
    expect(post.store().currentValue, equals: nil)
    post.client.clearStores()
    expect(post.store().currentValue, equals: nil)
  }

  // MARK: - Looked up

  @Test func `Subscribers and readers wait for a level that suspends, and make no request`() async throws {
    let post = KeptPost(Shelf(gate: self.gate))
    post.fill("kept", secondsAgo: 5)
    let store = post.store()
    expect(store.currentValue, equals: nil)
    #expect(store.inspect().isRestoring)
    let subscription = store.subscribe(with: QueryEventHandler())
    defer { subscription.cancel() }
    let ensured = Task.immediate { try await post.client.ensureValue(for: post.query()) }
    let young = Task.immediate { try await store.value(maximumAge: .seconds(10)) }
    try await self.gate.arrivals(count: 1)
    expect(post.script.runCount, equals: 0)
    self.gate.open()
    try await expect(ensured.finished(), equals: "kept")
    try await expect(young.finished(), equals: "kept")
    #expect(!store.isStale)
    #expect(!store.inspect().isRestoring)
    expect(post.script.runCount, equals: 0)
    #expect(post.shelf.log.all.isEmpty)
  }

  @Test func `A reader who wants a younger value fetches it once the level has answered`() async throws {
    let post = KeptPost(Shelf(gate: self.gate))
    post.fill("kept", secondsAgo: 5)
    let store = post.store()
    let young = Task.immediate { try await store.value(maximumAge: .seconds(4)) }
    try await self.gate.arrivals(count: 1)
    expect(post.script.runCount, equals: 0)
    self.gate.open()
    try await post.script.next().succeed("new")
    try await expect(young.finished(), equals: "new")
    expect(store.currentValue, equals: "new")
  }

  @Test func `Subscribers wait no longer than the limit, and a late value of the level is not shown`() async throws {
    let post = KeptPost(Shelf(gate: self.gate))
    post.fill("kept", secondsAgo: 5)
    let store = post.store()
    let isNew = Gate()
    let handler = OperationEventHandler<QueryState<String, any Error>>(onStateChanged: { state, _ in
      if state.currentValue == "new", !state.isLoading { isNew.open() }
    })
    let subscription = store.subscribe(with: handler)
    defer { subscription.cancel() }
    try await self.gate.arrivals(count: 1)
    post.clock.advance(by: store.context.operationRestorationLimit)
    let run = try await post.script.next()
    run.succeed("new")
    try await isNew.wait()
    expect(post.shelf.text(), equals: "kept")
    self.gate.open()
    await post.shelf.logs("put new")
    expect(store.currentValue, equals: "new")
    expect(post.shelf.text(), equals: "new")
    expect(post.script.runCount, equals: 1)
  }
}
