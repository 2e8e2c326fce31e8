import CoreFixtures
import OperationCore
import OperationEvents
import OperationStreams
import OperationTesting
import TestFixtures
import Testing

/// A store that its client has removed is over: it does nothing by itself any more.
@Suite(.bounded, .warningsAreIssues)
struct RemovedStoreTests {
  private let clock = ManualClock()
  private let script = IntScript()
  private let client = OperationClient()
  private let log = Log<String>()

  private func handler(_ name: String = "") -> OperationEventHandler<IntState> {
    OperationEventHandler(
      onStateChanged: { [log] state, _ in
        log.append("\(name)\(state.currentValue ?? 0)\(state.isLoading ? " loading" : "")")
      },
      onStoreRemoved: { [log] _ in log.append("\(name)removed") }
    )
  }

  // MARK: - By itself

  @Test
  func `It is not polled`() {
    let store = self.client.store(for: self.script.query().rerun(every: .seconds(10)).manualTime(self.clock))
    let subscription = store.subscribe(with: self.handler())
    defer { subscription.cancel() }
    #expect(self.clock.remainingTimes().contains(.seconds(10)))
    self.client.clearStores()
    #expect(!self.clock.remainingTimes().contains(.seconds(10)))
    self.clock.advance(by: .seconds(100))
    expect(self.script.runCount, equals: 0)
  }

  @Test
  func `It is not rerun for an invalidation that came before its removal`() async throws {
    let store = self.client.store(for: self.script.query(path: ["a"]))
    let subscription = store.subscribe(with: self.handler())
    defer { subscription.cancel() }
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    self.client.invalidate()
    #expect(store.inspect().needsRerun)
    self.client.clearStores()
    run.succeed(1)
    try await expect(fetch.finished(), equals: 1)
    expect(self.script.runCount, equals: 1)
    #expect(!store.isLoading)
  }

  @Test
  func `It is not rerun when a condition becomes true`() {
    let (connection, permission) = (SwitchSpecification(false), SwitchSpecification(false))
    let query = self.script.query().rerunOnChange(of: connection).enableAutomaticRunning(onlyWhen: permission)
    let store = self.client.store(for: query)
    let subscription = store.subscribe(with: self.handler())
    defer { subscription.cancel() }
    #expect((connection.observerCount, permission.observerCount) == (1, 1))
    self.client.clearStores()
    #expect((connection.observerCount, permission.observerCount) == (0, 0))
    permission.set(true)
    connection.set(true)
    expect(self.script.runCount, equals: 0)
  }

  @Test
  func `Nothing runs it behind the back of its holder`() async throws {
    let controller = HandingController<IntState>()
    defer { controller.drop() }
    let store = self.client.store(for: self.script.automaticQuery(path: ["a"]).controlled(by: controller))
    let controls = controller.controls
    #expect(controls.canYieldRerun)
    self.client.clearStore(with: store.path)
    #expect(!controls.canYieldRerun)
    #expect(!store.isAutomaticRunningEnabled)
    try await expect(controls.yieldRerun(), equals: nil)
    #expect(store.reference.refreshBehind(because: .refreshBehind) == nil)
    expect(self.script.runCount, equals: 0)
    expect(store.inspect().automaticRuns, equals: .removed)
    #expect("\(store.explain())".contains("its client has removed it"))
  }

  @Test
  func `Its controllers end with it`() {
    let ended = Counter()
    let controller = EndingController { ended.increment() }
    let store = self.client.store(for: self.script.query(path: ["a"]).controlled(by: controller))
    self.client.clearStores()
    expect(ended.value, equals: 1)
    withExtendedLifetime(store) {}
    _ = consume store
    expect(ended.value, equals: 1)
  }

  @Test(arguments: ["cleared", "cleared by path", "replaced", "taken out"])
  func `It is over however it was removed`(way: String) {
    let store = self.client.store(for: self.script.query(path: ["a"]))
    #expect(!store.isRemoved)
    switch way {
    case "cleared": self.client.clearStores()
    case "cleared by path": self.client.clearStore(with: ["a"])
    case "replaced":
      self.client.withStores(of: IntState.self) { stores, create in
        stores.update(create(for: self.script.query(path: ["a"])))
      }
    default: self.client.withStores(of: IntState.self) { stores, _ in stores.removeValue(forPath: ["a"]) }
    }
    #expect(store.isRemoved)
    #expect(self.client.store(with: ["a"])?.base as? IntStore !== store)
  }

  @Test
  func `A store that is dropped because it is idle, or put again, is not over`() async throws {
    let store = self.client.store(for: self.script.automaticQuery(path: ["a"]).manualTime(self.clock))
    self.clock.advance(by: .seconds(300))
    #expect(!store.isRemoved)
    #expect(self.client.store(with: ["a"])?.base as? IntStore === store)
    self.client.withStores(of: IntState.self) { stores, _ in stores.update(store) }
    #expect(!store.isRemoved)
    let subscription = store.subscribe(with: self.handler())
    defer { subscription.cancel() }
    try await self.script.next().succeed(1)
  }

  @Test
  func `A store that another client has is over when that one has removed it`() {
    let other = OperationClient()
    let store = self.client.store(for: self.script.query(path: ["a"]))
    other.withStores(of: IntState.self) { stores, _ in stores.update(store) }
    self.client.clearStores()
    #expect(!store.isRemoved)
    other.clearStores()
    #expect(store.isRemoved)
  }

  @Test
  func `It cannot be put into a client again`() {
    let store = self.client.store(for: self.script.query(path: ["a"]))
    self.client.clearStores()
    expectWarning(.invalidArgument) {
      self.client.withStores(of: IntState.self) { stores, _ in _ = stores.update(store) }
    }
    #expect(self.client.stores().isEmpty)
  }

  // MARK: - Its subscribers and its holder

  @Test
  func `Its subscribers hear of the removal once, and of nothing after it`() async throws {
    let store = self.client.store(for: self.script.query(path: ["a"]), initialValue: 1)
    let subscription = store.subscribe(with: self.handler())
    self.client.clearStores()
    expect(store.subscriberCount, equals: 0)
    store.currentValue = 2
    let fetch = Task.immediate { try await store.fetch() }
    try await self.script.next().succeed(3)
    try await expect(fetch.finished(), equals: 3)
    expect(store.currentValue, equals: 3)
    store.resetState()
    subscription.cancel()
    expect(self.log.all, equals: ["1", "removed"])
  }

  @Test
  func `The last state is not loading while a caller still waits for its run, which has its own handler`() async throws
  {
    let store = self.client.store(for: self.script.query(path: ["a"]), initialValue: 1)
    let subscription = store.subscribe(with: self.handler())
    defer { subscription.cancel() }
    let recorder = IntRecorder()
    let fetch = Task.immediate { try await store.run(handler: recorder.handler) }
    let run = try await self.script.next()
    self.client.clearStores()
    expect(self.log.all, equals: ["1", "1 loading", "1", "removed"])
    #expect(store.isLoading)
    run.succeed(2)
    try await expect(fetch.finished(), equals: 2)
    #expect(recorder.digests.contains(.returned(2)))
    expect(self.log.all, equals: ["1", "1 loading", "1", "removed"])
  }

  @Test
  func `A late subscriber hears the state and the removal, and causes no run`() {
    let store = self.client.store(for: self.script.automaticQuery(path: ["a"]), initialValue: 1)
    self.client.clearStores()
    let subscription = store.subscribe(with: self.handler())
    defer { subscription.cancel() }
    expect(self.log.all, equals: ["1", "removed"])
    expect(store.subscriberCount, equals: 0)
    store.currentValue = 2
    expect(self.log.all, equals: ["1", "removed"])
    expect(self.script.runCount, equals: 0)
  }

  @Test
  func `During exclusive access the removal is heard when the access ends`() {
    let store = self.client.store(for: self.script.query(path: ["a"]), initialValue: 1)
    let subscription = store.subscribe(with: self.handler())
    defer { subscription.cancel() }
    store.withExclusiveAccess { store in
      self.client.clearStores()
      store.currentValue = 2
      let late = store.subscribe(with: self.handler("late "))
      expect(self.log.all, equals: ["1"])
      late.cancel()
    }
    expect(self.log.all, equals: ["1", "2", "removed"])
  }

  @Test
  func `The sequence of its states ends`() async throws {
    let store = self.client.store(for: self.script.query(path: ["a"]), initialValue: 1)
    var states = store.states.makeAsyncIterator()
    await expect(states.next()?.state.currentValue, equals: 1)
    self.client.clearStores()
    #expect(await states.next() == nil)
    var late = store.states.makeAsyncIterator()
    await expect(late.next()?.state.currentValue, equals: 1)
    #expect(await late.next() == nil)
  }

  @Test
  func `Subscribers that come while stores are removed hear of the removal once`() async {
    let script = IntScript(default: .value(1))
    for _ in 0..<100 {
      let store = self.client.store(for: script.automaticQuery(path: ["a"]), initialValue: 1)
      let logs = (0..<3).map { _ in Log<String>() }
      let subscriptions = (0..<3).map { _ in Box<OperationSubscription?>(nil) }
      let client = self.client
      await onThreads(4) { number in
        guard number < 3 else { return client.clearStores() }
        let log = logs[number]
        subscriptions[number].value = store.subscribe(
          with: OperationEventHandler(
            onStateChanged: { _, _ in log.append("state") },
            onStoreRemoved: { _ in log.append("removed") }
          )
        )
      }
      for log in logs {
        expect(log.all.last, equals: "removed")
        expect(log.all.count { $0 == "removed" }, equals: 1)
      }
      expect(store.subscriberCount, equals: 0)
      withExtendedLifetime(subscriptions) {}
    }
  }

  // MARK: - The next store

  @Test
  func `The client's next store begins with the initial value, and is handed out once the removal is over`() {
    let stores = ["a", "b"].map { path in
      self.client.store(for: self.script.query(path: [path]), initialValue: 1)
    }
    let announced = self.client.announcing(to: self.log)
    let log = self.log
    let subscriptions = stores.map { store in
      store.currentValue = 2
      return store.subscribe(
        with: OperationEventHandler(
          onStoreRemoved: { _ in
            log.append("removed \(store.path)")
            store.withNextStore { next in log.append("next \(next.path): \(next.currentValue ?? 0)") }
          }
        )
      )
    }
    self.client.clearStores()
    let (a, b) = (stores[0].path, stores[1].path)
    expect(
      self.log.all.filter { !$0.hasPrefix("-") && !$0.hasPrefix("+") },
      equals: [
        "removed \(a)", "removed \(b)", "next \(a): 1", "next \(b): 1",
      ]
    )
    expect(self.client.stores().count, equals: 2)
    OperationSubscription.combined(subscriptions + [announced]).cancel()
  }

  @Test
  func `The next store is the one that is there, unless it is of another type`() async throws {
    let store = self.client.store(for: NumberQuery(1))
    let found = Box<[IntStore]>([])
    store.withNextStore { found.value.append($0) }
    #expect(found.value.isEmpty)
    self.client.clearStores()
    let next = self.client.store(for: NumberQuery(1).stale(after: .seconds(1)))
    store.withNextStore { found.value.append($0) }
    expect(found.value.map(ObjectIdentifier.init), equals: [ObjectIdentifier(next)])
    self.client.clearStores()
    _ = self.client.store(for: RivalQuery(1))
    expectWarning(.pathInUse) { next.withNextStore { found.value.append($0) } }
    expect(found.value.count, equals: 1)
  }

  @Test
  func `The next store has the modifiers of the first, and those of the creator once`() async throws {
    let client = OperationClient(storeCreator: CountingCreator())
    let store = client.store(for: self.script.query(path: ["a"]).stale(after: .seconds(5)))
    let modifiers = store.inspect().modifiers
    client.clearStores()
    let found = Box<IntStore?>(nil)
    store.withNextStore { found.value = $0 }
    expect(found.value?.inspect().modifiers, equals: modifiers)
    #expect(found.value !== store)
    let detached = IntStore.detached(query: self.script.query(path: ["a"]))
    client.withStores(of: IntState.self) { stores, _ in stores.update(detached) }
    client.clearStores()
    detached.withNextStore { _ in Issue.record("The client did not make it.") }
  }

  @Test
  func `Nothing is left of removed stores whose next ones are followed`() async throws {
    let lifetimes = LifetimeTracker()
    let script = OperationScript<LifetimeTracker.Token, any Error>()
    let store = self.client.store(for: script.query(path: ["token"]))
    var states: CombinedStates<[QueryState<LifetimeTracker.Token, any Error>]>.Iterator? =
      [store].combinedStates().makeAsyncIterator()
    _ = await states?.next()
    _ = consume store
    for _ in 0..<3 {
      self.client.store(for: script.query(path: ["token"])).currentValue = lifetimes.token()
      _ = await states?.next()
      self.client.clearStores()
      try await lifetimes.noneAlive()
    }
    states = nil
    self.client.clearStores()
    #expect(self.client.stores().isEmpty)
  }
}

/// A controller whose end is noted.
private struct EndingController: OperationController, Sendable {
  let onEnd: @Sendable () -> Void

  func control(with controls: OperationControls<IntState>) -> OperationSubscription {
    OperationSubscription(onCancel: self.onEnd)
  }
}

/// Adds a modifier to each operation.
private struct CountingCreator: OperationClient.StoreCreator {
  func store<Operation: StatefulOperationRequest & Sendable>(
    for operation: Operation,
    in context: OperationContext,
    with initialState: Operation.State
  ) -> OperationStore<Operation.State> {
    .detached(
      operation: operation.cacheTime(.seconds(7)),
      initialState: initialState,
      initialContext: context
    )
  }
}
