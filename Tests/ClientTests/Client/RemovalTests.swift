import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// What the subscribers of a store hear when their client removes it, or when it is released.
@Suite(.bounded, .warningsAreIssues)
struct RemovalTests {
  private let log = Log<String>()

  private func handler(_ name: String = "") -> OperationEventHandler<IntState> {
    OperationEventHandler(
      onStateChanged: { [log] state, _ in
        log.append("\(name)\(state.currentValue ?? 0)\(state.isLoading ? " loading" : "")")
      },
      onRunStarted: { [log] _ in log.append("\(name)started") },
      onRunEnded: { [log] _ in log.append("\(name)ended") },
      onStoreRemoved: { [log] _ in log.append("\(name)removed") }
    )
  }

  @Test(arguments: [true, false])
  func `A subscriber of a cleared store hears that nothing loads, and that the store was removed`(
    isHeld: Bool
  ) async throws {
    let client = OperationClient()
    let script = IntScript()
    var store: IntStore? = client.store(for: script.automaticQuery(path: ["a"]), initialValue: 1)
    let subscription = store?.subscribe(with: self.handler())
    defer { subscription?.cancel() }
    let run = try await script.next()
    if !isHeld { store = nil }

    client.clearStores()

    try await run.cancelled()
    expect(self.log.all.filter { $0 != "ended" }, equals: ["1", "1 loading", "started", "1", "removed"])
    #expect(store?.isLoading != true)
    store = nil
    expect(self.log.all.count { $0 == "removed" }, equals: 1)
  }

  @Test
  func `Removing one store, replacing one and taking one out notify their subscribers`() {
    let client = OperationClient()
    let stores = ["a", "b", "c", "d"].map { client.store(for: IntScript().query(path: [$0])) }
    let subscriptions = zip(stores, ["a", "b", "c", "d"]).map { $0.subscribe(with: self.handler("\($1) ")) }
    defer { OperationSubscription.combined(subscriptions).cancel() }

    client.clearStore(with: ["a"])
    expect(self.log.all.suffix(1), equals: ["a removed"])
    client.withStores(of: IntState.self) { stores, createStore in
      stores.removeValue(forPath: ["b"])
      stores.update(createStore(for: IntScript().query(path: ["c"])))
    }

    expect(self.log.all.suffix(2).sorted(), equals: ["b removed", "c removed"])
    expect(self.log.all.count { $0.hasSuffix("removed") }, equals: 3)
    expect(stores[3].subscriberCount, equals: 1)
  }

  @Test
  func `A subscriber of a temporary client hears that nothing loads`() async throws {
    let script = IntScript()
    let subscription = OperationClient().store(for: script.automaticQuery(), initialValue: 2)
      .subscribe(with: self.handler())
    defer { subscription.cancel() }

    let run = try await script.next()
    try await run.cancelled()
    expect(
      self.log.all.filter { $0.hasSuffix("loading") || $0 == "2" || $0 == "removed" }.suffix(2),
      equals: ["2", "removed"]
    )
  }

  @Test
  func `A caller of a cleared store gets its value, and the subscribers hear the end`() async throws {
    let client = OperationClient()
    let script = IntScript()
    let store = client.store(for: script.automaticQuery(path: ["a"]), initialValue: 1)
    let subscription = store.subscribe(with: self.handler())
    defer { subscription.cancel() }
    let subscribersRun = try await script.next()
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await script.next()

    client.clearStores()
    expect(self.log.all.suffix(1), equals: ["removed"])
    #expect(store.isLoading)
    try await subscribersRun.cancelled()
    run.succeed(3)

    try await expect(fetch.finished(), equals: 3)
    expect(store.currentValue, equals: 3)
    expect(self.log.all.suffix(2), equals: ["1", "removed"])
    #expect(!store.isLoading)
  }

  @Test
  func `A store that is released while a caller waits shows its subscribers a state that does not load`() async throws {
    let script = IntScript()
    var store: IntStore? = .detached(query: script.query(), initialValue: 1)
    let subscription = store?.subscribe(with: self.handler())
    defer { subscription?.cancel() }
    let task = store?.runTask()
    let fetch = Task.immediate { try await task?.runIfNeeded() }
    let run = try await script.next()
    run.yield(5)
    expect(self.log.all.suffix(1), equals: ["5 loading"])

    store = nil
    expect(self.log.all.suffix(2), equals: ["1", "removed"])
    run.succeed(3)

    try await expect(fetch.finished(), equals: 3)
    expect(self.log.all.suffix(2), equals: ["1", "removed"])
  }

  @Test
  func `The states of a cleared store end with one that does not load`() async throws {
    let client = OperationClient()
    let script = IntScript()
    let states = client.store(for: script.automaticQuery(path: ["a"]), initialValue: 1).states
    var iterator = states.makeAsyncIterator()
    let run = try await script.next()

    client.clearStores()
    try await run.cancelled()
    let last = await iterator.next()

    expect(last?.state.isLoading, equals: false)
    #expect(await iterator.next() == nil)
  }

  @Test
  func `A handler may subscribe, set, clear and fetch when the store is removed`() async throws {
    let client = OperationClient()
    let script = IntScript()
    let store = client.store(for: script.automaticQuery(path: ["a"]), initialValue: 1)
    let log = self.log
    let added = Box<[OperationSubscription]>([])
    let first = store.subscribe(
      with: OperationEventHandler(onStoreRemoved: { [handler] _ in
        log.append("begin")
        client.clearStores()
        store.currentValue = 7
        added.value.append(store.subscribe(with: handler("late ")))
        log.append("end")
      })
    )
    defer { OperationSubscription.combined(added.value + [first]).cancel() }
    let run = try await script.next()

    client.clearStores()

    try await run.cancelled()
    // The late subscriber hears of the removal, and causes no run.
    expect(log.all, equals: ["begin", "end", "late 7", "late removed"])
    expect(store.subscriberCount, equals: 0)
    expect(script.runCount, equals: 1)
    #expect(!store.isLoading)
  }
}
