import CoreFixtures
import Foundation
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// Custom caches and the default cache.
@Suite(.bounded, .warningsAreIssues)
struct StoreCacheTests {
  @Test
  func `A cache is notified of idle stores and of stores in use again`() async throws {
    let cache = LoggingCache()
    let client = OperationClient(storeCache: cache)
    let script = IntScript(default: .value(1))
    let store = client.store(for: script.query(path: ["q"]))
    expect(cache.log.all, equals: ["idle"])
    let subscription = store.subscribe(with: IntRecorder().handler)
    expect(cache.log.all, equals: ["idle", "active"])
    try await store.fetch()
    expect(cache.log.all, equals: ["idle", "active"])
    subscription.cancel()
    expect(cache.log.all, equals: ["idle", "active", "idle"])
    try await store.fetch()
    expect(cache.log.all, equals: ["idle", "active", "idle", "active", "idle"])
    client.clearStores()
    expect(cache.log.all.last, equals: "active")
  }

  @Test
  func `A cache may evict a store, and gets its path and context`() {
    let cache = LoggingCache()
    let client = OperationClient(storeCache: cache)
    _ = client.store(for: NumberQuery(1).cacheTime(.seconds(7)))
    let idle = cache.last.value
    expect(idle?.path, equals: NumberQuery(1).path)
    expect(idle?.context.operationCacheTime, equals: .seconds(7))
    idle?.evict()
    #expect(client.stores().isEmpty)
    idle?.evict()
  }

  @Test
  func `Evicting a store that is in use again does nothing`() {
    let cache = LoggingCache()
    let client = OperationClient(storeCache: cache)
    let subscription = client.store(for: NumberQuery(1)).subscribe(with: IntRecorder().handler)
    defer { subscription.cancel() }
    cache.last.value?.evict()
    expect(client.stores().count, equals: 1)
  }

  @Test
  func `The default cache evicts idle stores on demand`() {
    let cache = OperationClient.DefaultStoreCache()
    let client = OperationClient(storeCache: cache)
    _ = client.store(for: NumberQuery(1).cacheTime(.seconds(1_000)))
    _ = client.store(for: NumberQuery(2))
    let subscription = client.store(for: NumberQuery(3).cacheTime(.seconds(1_000)))
      .subscribe(with: IntRecorder().handler)
    defer { subscription.cancel() }
    cache.evictIdleStores { $0.operationCacheTime == .seconds(1_000) }
    expect(Set(client.stores().map(\.path)), equals: [NumberQuery(2).path, NumberQuery(3).path])
  }

  @Test
  func `One cache may serve two clients, and keeps no store of a released client`() {
    let clock = ManualClock()
    var context = OperationContext()
    context.use(clock)
    let cache = OperationClient.DefaultStoreCache()
    let client = OperationClient(defaultContext: context, storeCache: cache)
    weak var store: OperationStore<NumberQuery.State>?
    do {
      let other = OperationClient(defaultContext: context, storeCache: cache)
      _ = client.store(for: NumberQuery(1))
      store = other.store(for: NumberQuery(1))
      #expect(store != nil)
    }
    #expect(store == nil)
    expect(client.stores().count, equals: 1)
    clock.advance(by: .seconds(300))
    #expect(client.stores().isEmpty)
  }

  @Test
  func `A cache may pass its notifications on to others`() {
    let caches = [OperationClient.DefaultStoreCache(), OperationClient.DefaultStoreCache()]
    let client = OperationClient(storeCache: ForwardingCache(caches: caches))
    for number in 1...3 { _ = client.store(for: NumberQuery(number).cacheTime(.seconds(1_000 + number))) }
    let subscription = client.store(for: NumberQuery(1)).subscribe(with: IntRecorder().handler)
    caches[0].evictIdleStores { $0.operationCacheTime == .seconds(1_002) }
    expect(Set(client.stores().map(\.path)), equals: [NumberQuery(1).path, NumberQuery(3).path])
    caches[1].evictIdleStores { _ in true }
    expect(client.stores().map(\.path), equals: [NumberQuery(1).path])
    subscription.cancel()
    caches[1].evictIdleStores { _ in true }
    #expect(client.stores().isEmpty)
  }

  @Test
  func `A hundred thousand idle stores are released with their client`() {
    var client: OperationClient? = OperationClient(
      storeCache: OperationClient.DefaultStoreCache(maximumIdleStores: .max)
    )
    for number in 0..<100_000 { _ = client?.store(for: NumberQuery(number)) }
    weak let store = client?.store(for: NumberQuery(0))
    #expect(store != nil)
    client = nil
    #expect(store == nil)
  }

  @Test
  func `A custom trigger evicts stores, and is observed while there are idle ones`() {
    let trigger = ManualTrigger()
    let clock = ManualClock()
    var context = OperationContext()
    context.use(clock)
    var client: OperationClient? = OperationClient(
      defaultContext: context,
      storeCache: OperationClient.DefaultStoreCache(evictionTrigger: trigger)
    )
    expect(trigger.subscriptionCount.value, equals: 0)
    _ = client?.store(for: NumberQuery(1).cacheTime(.seconds(1_000)))
    let subscription = client?.store(for: NumberQuery(2).cacheTime(.seconds(1_000)))
      .subscribe(with: IntRecorder().handler)
    _ = client?.store(for: NumberQuery(3))
    expect(trigger.subscriptionCount.value, equals: 1)
    trigger.evict.value? { $0.operationCacheTime == .seconds(1_000) }
    expect(client.map { Set($0.stores().map(\.path)) }, equals: [NumberQuery(2).path, NumberQuery(3).path])
    // The deadlines of removed stores and of stores in use pass, and then nothing is left to evict.
    clock.advance(by: .seconds(1_000))
    expect(trigger.subscriptionCount.value, equals: 0)
    subscription?.cancel()
    expect(trigger.subscriptionCount.value, equals: 1)
    client = nil
    expect(trigger.subscriptionCount.value, equals: 0)
  }

  @Test
  func `A cache for no idle stores does not observe the trigger after a store was evicted`() {
    let trigger = ManualTrigger()
    let cache = OperationClient.DefaultStoreCache(maximumIdleStores: 0, evictionTrigger: trigger)
    let client = OperationClient(storeCache: cache)
    _ = client.store(for: NumberQuery(1))
    expect(trigger.subscriptionCount.value, equals: 0)
    #expect(client.stores().isEmpty)
  }

  @Test(arguments: [Duration.seconds(Int64.max), .seconds(Int64.max) * 4, .nanoseconds(1), .zero])
  func `No cache time, age or interval traps`(_ duration: Duration) {
    let client = OperationClient()
    let query = IntScript().query().cacheTime(duration).stale(after: duration)
    let store = client.store(for: query)
    store.currentValue = 1
    #expect(store.isStale == (duration <= .zero) || duration == .nanoseconds(1))
    let subscription = store.subscribe(with: IntRecorder().handler)
    subscription.cancel()
    #expect(client.store(for: query) === store)
    guard duration > .seconds(1) else { return }
    let polled = IntStore.detached(query: IntScript().query().rerun(every: duration))
    polled.subscribe(with: IntRecorder().handler).cancel()
  }

  @Test
  func `An alarm that fires before it is kept does not take the place of the next`() async throws {
    let deadlines = HastyDeadlines()
    var context = OperationContext()
    context.operationDeadlines = deadlines
    let cache = OperationClient.DefaultStoreCache()
    let clients = (0..<2).map { _ in OperationClient(defaultContext: context, storeCache: cache) }
    // It becomes idle while the alarm of the first store is being set.
    deadlines.duringFirst.value = { _ = clients[1].store(for: NumberQuery(2).cacheTime(.seconds(10))) }
    try await offThePool {
      _ = clients[0].store(for: NumberQuery(1).cacheTime(.seconds(10)))
      deadlines.firstIsKept.signal()
      deadlines.firstHasFired.wait()
    }
    expect(clients.map { $0.stores().count }, equals: [0, 1])
    deadlines.time.value = .seconds(15)
    deadlines.last.value?()
    #expect(clients[1].stores().isEmpty)
    deadlines.duringFirst.value = {}
  }
}

private final class LoggingCache: OperationClient.StoreCache, Sendable {
  let log = Log<String>()
  let last = Box<OperationClient.IdleStore?>(nil)

  func storeDidBecomeIdle(_ store: OperationClient.IdleStore) {
    self.last.value = store
    self.log.append("idle")
  }

  func storeDidBecomeActive(_ id: OperationClient.IdleStore.ID) {
    self.log.append(id == self.last.value?.id ? "active" : "another one active")
  }
}

private struct ForwardingCache: OperationClient.StoreCache {
  let caches: [OperationClient.DefaultStoreCache]

  func storeDidBecomeIdle(_ store: OperationClient.IdleStore) {
    for cache in self.caches { cache.storeDidBecomeIdle(store) }
  }

  func storeDidBecomeActive(_ id: OperationClient.IdleStore.ID) {
    for cache in self.caches { cache.storeDidBecomeActive(id) }
  }
}

private final class ManualTrigger: OperationClient.EvictionTrigger, Sendable {
  let subscriptionCount = Box(0)
  let evict = Box<(@Sendable ((OperationContext) -> Bool) -> Void)?>(nil)

  func subscribe(_ evict: @escaping @Sendable ((OperationContext) -> Bool) -> Void) -> OperationSubscription {
    self.subscriptionCount.value += 1
    self.evict.value = evict
    return OperationSubscription { self.subscriptionCount.value -= 1 }
  }
}

/// Fires its first deadline on another thread before the caller gets it, and returns it when the next one is scheduled.
private final class HastyDeadlines: DeadlineSource {
  let time = Box(Duration.zero)
  let duringFirst = Box<@Sendable () -> Void>({})
  /// The action of the second deadline, until that is cancelled.
  let last = Box<(@Sendable () -> Void)?>(nil)
  let firstIsKept = DispatchSemaphore(value: 0)
  let firstHasFired = DispatchSemaphore(value: 0)
  private let secondIsScheduled = DispatchSemaphore(value: 0)
  private let isFirst = Box(true)

  var elapsed: Duration { self.time.value }

  func schedule(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> OperationSubscription {
    if self.isFirst.replace(with: false) {
      self.time.value = .seconds(5)
      self.duringFirst.value()
      self.time.value = .seconds(10)
      Thread.detachNewThread {
        action()
        self.firstHasFired.signal()
      }
      self.secondIsScheduled.wait()
      return OperationSubscription {}
    }
    self.secondIsScheduled.signal()
    self.firstIsKept.wait()
    self.last.value = action
    return OperationSubscription { self.last.value = nil }
  }
}
