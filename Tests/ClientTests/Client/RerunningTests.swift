import CoreFixtures
import OperationCore
import OperationEvents
import OperationTesting
import TestFixtures
import Testing

/// Which stores run again after an invalidation or a reset, and what removing does instead.
@Suite(.bounded, .warningsAreIssues)
struct RerunningTests {
  private let client = OperationClient()
  private let script = IntScript(default: .value(2))

  private func query(_ path: OperationPath) -> some QueryRequest<Int, any Error> {
    self.script.automaticQuery(path: path).stale(after: .seconds(1_000_000))
  }

  /// A store with the value 1.
  private func store(_ path: OperationPath) -> IntStore {
    let store = self.client.store(for: self.query(path))
    store.currentValue = 1
    return store
  }

  @Test
  func `No store runs again, some do, or all do`() async throws {
    let (watched, unwatched) = (self.store(["a", 1]), self.store(["a", 2]))
    let subscription = watched.subscribe(with: IntRecorder().handler)
    defer { subscription.cancel() }
    await self.client.invalidate(matching: ["a"], rerunning: .none).settled()
    #expect(self.script.runCount == 0 && watched.isStale && unwatched.isStale)
    await self.client.invalidate(matching: ["a"], rerunning: .subscribed).settled()
    #expect(self.script.runCount == 1 && watched.currentValue == 2 && unwatched.isStale)
    await self.client.invalidate(matching: ["a"], rerunning: .all).settled()
    #expect(self.script.runCount == 3 && unwatched.currentValue == 2)
    #expect(!watched.isStale && !unwatched.isStale)
    // A value from before is never returned after it, whatever runs.
    await self.client.invalidate(matching: ["a"], rerunning: .none).settled()
    self.script.enqueue(.value(3))
    try await expect(self.client.ensureValue(for: self.query(["a", 2])), equals: 3)
  }

  @Test
  func `Settling waits for the runs of stores that nobody uses`() async throws {
    let store = self.store(["a"])
    self.script.enqueue(.suspend)
    let invalidation = self.client.invalidate(matching: ["a"], rerunning: .all)
    let run = try await self.script.next()
    let settled = Task { await invalidation.settled() }
    #expect(store.isLoading)
    run.succeed(5)
    await settled.value
    #expect(store.currentValue == 5 && !store.isStale)
  }

  @Test
  func `A run from before an invalidation without reruns does not make the store fresh`() async throws {
    let store = self.store(["a"])
    let subscription = store.subscribe(with: IntRecorder().handler)
    defer { subscription.cancel() }
    self.script.enqueue(.suspend)
    let fetch = Task { try await store.fetch() }
    let run = try await self.script.next()
    self.client.invalidate(matching: ["a"], rerunning: .none)
    run.succeed(4)
    try await expect(fetch.value, equals: 4)
    await store.settled()
    #expect(store.isStale && self.script.runCount == 1)
  }

  @Test
  func `What does not run by itself is not run again`() async {
    let disabled = self.client.store(for: self.script.query(path: ["a"]).disableAutomaticRunning())
    disabled.currentValue = 1
    await self.client.invalidate(matching: ["a"], rerunning: .all).settled()
    await self.client.resetStores(matching: ["a"], rerunning: .all).settled()
    expect(self.script.runCount, equals: 0)
  }

  @Test
  func `Several prefixes and a predicate are one step`() async {
    let stores = [self.store(["a", 1]), self.store(["a", 2]), self.store(["b", 1]), self.store(["c", 1])]
    let invalidations = Log<OperationPath>()
    let observer = InvalidationObserver(invalidations)
    let observation = self.client.observe(with: observer)
    defer { observation.cancel() }
    self.client.invalidate(matchingAnyOf: [["a"], ["a", 1], ["b"]], rerunning: .none)
    expect(stores.map(\.isStale), equals: [true, true, true, false])
    expect(invalidations.all, equals: [["a", 1], ["a", 2], ["b", 1]])
    self.client.invalidate(matchingAnyOf: [])
    for store in stores { store.currentValue = 1 }
    self.client.invalidate(matching: ["a"], rerunning: .none) { $0.path == ["a", 2] }
    expect(stores.map(\.isStale), equals: [false, true, false, false])
    for store in stores { store.currentValue = 1 }
    await self.client.invalidate(matchingAnyOf: [["a"], ["c"]], rerunning: .all) { $0.path != ["a", 1] }.settled()
    expect(stores.map(\.currentValue), equals: [1, 2, 1, 2])
    expect(self.script.runCount, equals: 2)
    #expect(stores[1].explain().endedRuns.isEmpty)
  }

  @Test
  func `All stores are marked before any runs again`() async throws {
    let (first, second) = (self.store(["a", 1]), self.store(["a", 2]))
    let wasStale = Log<Bool>()
    let subscription = first.subscribe(
      with: OperationEventHandler(onRunStarted: { _ in wasStale.append(second.isStale) })
    )
    defer { subscription.cancel() }
    await self.client.invalidate(matchingAnyOf: [["a", 1], ["a", 2]]).settled()
    expect(wasStale.all, equals: [true])
  }

  @Test
  func `A reset empties stores, and runs those again that have subscribers, or all`() async throws {
    let (watched, unwatched) = (self.store(["a", 1]), self.store(["a", 2]))
    let causes = Log<String>()
    let subscription = watched.subscribe(
      with: OperationEventHandler(onRunStarted: { causes.append("\($0.operationRunCause, default: "none")") })
    )
    defer { subscription.cancel() }
    self.client.resetStores(matching: ["a"])
    #expect(watched.currentValue == nil && unwatched.currentValue == nil && !watched.isLoading)
    (watched.currentValue, unwatched.currentValue) = (1, 1)
    await self.client.resetStores(matching: ["a"], rerunning: .subscribed).settled()
    #expect(watched.currentValue == 2 && unwatched.currentValue == nil)
    await self.client.resetStores(matching: ["a"], rerunning: .all).settled()
    #expect(watched.currentValue == 2 && unwatched.currentValue == 2)
    #expect(self.script.runCount == 3 && causes.all == ["a reset", "a reset"])
  }

  @Test
  func `Removing ends subscriptions and values, and a predicate keeps what is used`() {
    let (watched, unwatched, other) = (self.store(["a", 1]), self.store(["a", 2]), self.store(["b"]))
    let subscription = watched.subscribe(with: IntRecorder().handler)
    defer { subscription.cancel() }
    self.client.remove(matching: ["a"]) { $0.subscriberCount == 0 }
    #expect(self.client.store(with: ["a", 1]) != nil && self.client.store(with: ["a", 2]) == nil)
    self.client.remove(matching: ["a"])
    #expect(self.client.store(with: ["a", 1]) == nil && self.client.store(with: ["b"]) != nil)
    #expect(watched.subscriberCount == 0 && unwatched.currentValue == 1 && other.currentValue == 1)
    #expect(self.store(["a", 1]) !== watched)
  }
}

private final class InvalidationObserver: StoreObserver {
  private let paths: Log<OperationPath>

  init(_ paths: Log<OperationPath>) {
    self.paths = paths
  }

  var observedEvents: StoreEvent.Kinds { .writes }

  func receive(_ event: StoreEvent, of store: StoreReference) {
    if case .invalidated = event.what { self.paths.append(event.path) }
  }
}
