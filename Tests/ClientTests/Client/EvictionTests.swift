import CoreFixtures
import Foundation
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// Idle stores are evicted after their cache time, or when there are too many. A store with another owner stays found.
@Suite(.bounded, .warningsAreIssues)
struct EvictionTests {
  private let clock = ManualClock()

  private func client(maximumIdleStores: Int = 10_000) -> OperationClient {
    var context = OperationContext()
    context.use(self.clock)
    return OperationClient(
      defaultContext: context,
      storeCache: OperationClient.DefaultStoreCache(maximumIdleStores: maximumIdleStores)
    )
  }

  @Test
  func `A store that never ran is evicted after five minutes, and is announced`() {
    let client = self.client()
    let log = Log<String>()
    let subscription = client.announcing(to: log)
    defer { subscription.cancel() }
    _ = client.store(for: NumberQuery(1))
    self.clock.advance(by: .seconds(299))
    expect(client.stores().count, equals: 1)
    self.clock.advance(by: .seconds(1))
    #expect(client.stores().isEmpty)
    #expect(client.store(with: NumberQuery(1).path) == nil)
    expect(log.all, equals: ["+ \(NumberQuery(1).path)", "- \(NumberQuery(1).path)"])
    expect(self.clock.sleeperCount(), equals: 0)
  }

  @Test
  func `Each store has the cache time of its operation`() {
    let client = self.client()
    _ = client.store(for: NumberQuery(1).cacheTime(.seconds(10)))
    _ = client.store(for: NumberQuery(2).cacheTime(.seconds(20)))
    _ = client.store(for: NumberQuery(3).cacheTime(.zero))
    self.clock.advance(by: .seconds(10))
    expect(client.stores().map(\.path), equals: [NumberQuery(2).path])
    self.clock.advance(by: .seconds(10))
    #expect(client.stores().isEmpty)
  }

  @Test(arguments: [-1_000_000.0, 1_000_000.0])
  func `A clock that is set changes no cache time`(seconds: Double) {
    let client = self.client()
    _ = client.store(for: NumberQuery(1).cacheTime(.seconds(10)))
    self.clock.advance(by: .seconds(5))
    self.clock.setDate(self.clock.now() + seconds)
    expect(client.stores().count, equals: 1)
    self.clock.advance(by: .seconds(4))
    expect(client.stores().count, equals: 1)
    self.clock.setDate(self.clock.now() - seconds)
    self.clock.advance(by: .seconds(1))
    #expect(client.stores().isEmpty)
    expect(self.clock.sleeperCount(), equals: 0)
  }

  @Test
  func `A store with a subscriber stays, and its time begins when the last one leaves`() {
    let client = self.client()
    var store: IntStore? = client.store(for: NumberQuery(1))
    let first = store?.subscribe(with: IntRecorder().handler)
    let second = store?.subscribe(with: IntRecorder().handler)
    store = nil
    self.clock.advance(by: .seconds(1_000))
    first?.cancel()
    self.clock.advance(by: .seconds(1_000))
    expect(client.stores().count, equals: 1)
    second?.cancel()
    self.clock.advance(by: .seconds(299))
    expect(client.stores().count, equals: 1)
    self.clock.advance(by: .seconds(1))
    #expect(client.stores().isEmpty)
  }

  @Test
  func `A store that runs stays, and its time begins when the run has ended`() async throws {
    let client = self.client()
    let script = IntScript()
    let task = client.store(for: script.query()).fetchTask()
    let fetch = Task { try await task.runIfNeeded() }
    let run = try await script.next()
    self.clock.advance(by: .seconds(1_000))
    expect(client.stores().count, equals: 1)
    run.succeed(1)
    _ = try await fetch.finished()
    self.clock.advance(by: .seconds(299))
    expect(client.stores().count, equals: 1)
    self.clock.advance(by: .seconds(1))
    #expect(client.stores().isEmpty)
  }

  @Test
  func `A store that is used in between begins its time anew`() async throws {
    let client = self.client()
    let script = IntScript(default: .value(1))
    try await client.store(for: script.query()).fetch()
    self.clock.advance(by: .seconds(200))
    try await client.store(for: script.query()).fetch()
    self.clock.advance(by: .seconds(200))
    expect(client.stores().count, equals: 1)
    self.clock.advance(by: .seconds(100))
    #expect(client.stores().isEmpty)
  }

  @Test
  func `A store that is referenced stays the one found at its path`() throws {
    let client = self.client()
    var held: IntStore? = client.store(for: NumberQuery(1))
    let log = Log<String>()
    let subscription = client.announcing(to: log)
    defer { subscription.cancel() }
    self.clock.advance(by: .seconds(1_000))
    expect(client.stores().count, equals: 1)
    #expect(client.stores(of: IntState.self)[NumberQuery(1).path] === held)
    #expect(client.store(with: NumberQuery(1).path)?.base as? IntStore === held)
    self.clock.advance(by: .seconds(1_000))
    held?.currentValue = 7
    #expect(client.store(for: NumberQuery(1)) === held)
    expect(client.store(for: NumberQuery(1)).currentValue, equals: 7)
    #expect(!log.all.contains { $0.hasPrefix("+") })
    self.clock.advance(by: .seconds(1_000))
    weak let witness = held
    held = nil
    #expect(witness == nil)
    #expect(client.store(with: NumberQuery(1).path) == nil)
    #expect(client.stores().isEmpty)
    #expect(client.snapshot().stores.isEmpty)
  }

  @Test
  func `A held store past its cache time takes part in everything`() async throws {
    let client = self.client()
    let script = IntScript()
    let store = client.store(for: script.automaticQuery().stale(after: .seconds(100_000)))
    store.currentValue = 1
    self.clock.advance(by: .seconds(1_000))
    expect(client.snapshot().stores.count, equals: 1)
    await client.invalidate().settled()
    #expect(store.isStale)
    let subscription = store.subscribe(with: IntRecorder().handler)
    defer { subscription.cancel() }
    let run = try await script.next()
    expect(client.isFetching(), equals: 1)
    client.resetStores()
    try await run.cancelled()
    expect(store.currentValue, equals: nil)
  }

  @Test
  func `A held store past its cache time is kept again while it is used`() {
    let client = self.client()
    var held: IntStore? = client.store(for: NumberQuery(1))
    self.clock.advance(by: .seconds(1_000))
    let subscription = held?.subscribe(with: IntRecorder().handler)
    held = nil
    self.clock.advance(by: .seconds(1_000))
    expect(client.stores().count, equals: 1)
    subscription?.cancel()
    self.clock.advance(by: .seconds(300))
    #expect(client.stores().isEmpty)
  }

  @Test
  func `Past the maximum the oldest idle stores are evicted, and are announced`() {
    let client = self.client(maximumIdleStores: 3)
    let log = Log<String>()
    let subscription = client.announcing(to: log)
    defer { subscription.cancel() }
    for number in 0..<5 { _ = client.store(for: NumberQuery(number)) }
    expect(Set(client.stores().map(\.path)), equals: Set((2..<5).map { NumberQuery($0).path }))
    expect(log.all.filter { $0.hasPrefix("-") }, equals: (0..<2).map { "- \(NumberQuery($0).path)" })
  }

  @Test
  func `Stores in use do not count, and are the newest when they become idle`() {
    let client = self.client(maximumIdleStores: 2)
    let subscription = client.store(for: NumberQuery(0)).subscribe(with: IntRecorder().handler)
    for number in 1..<4 { _ = client.store(for: NumberQuery(number)) }
    expect(Set(client.stores().map(\.path)), equals: Set([0, 2, 3].map { NumberQuery($0).path }))
    subscription.cancel()
    expect(Set(client.stores().map(\.path)), equals: Set([0, 3].map { NumberQuery($0).path }))
  }

  @Test
  func `A cache for no idle stores lets held ones be found`() {
    let client = self.client(maximumIdleStores: 0)
    var held: IntStore? = client.store(for: NumberQuery(1))
    #expect(client.store(for: NumberQuery(1)) === held)
    held = nil
    #expect(client.stores().isEmpty)
  }

  @Test
  func `A negative maximum is reported`() {
    let cache = expectWarning(.invalidArgument) { OperationClient.DefaultStoreCache(maximumIdleStores: -1) }
    let client = OperationClient(storeCache: cache)
    _ = client.store(for: NumberQuery(1))
    #expect(client.stores().isEmpty)
  }

  @Test
  func `A negative cache time is reported once, and counts as none`() {
    let client = self.client()
    let query = expectWarning(.invalidArgument) { NumberQuery(1).cacheTime(.seconds(-3)) }
    let held = client.store(for: query)
    expect(held.context.operationCacheTime, equals: .zero)
    var context = OperationContext()
    expectWarning(.invalidArgument) { context.operationCacheTime = .seconds(-1) }
    expect(context.operationCacheTime, equals: .zero)
  }

  @Test
  func `Stores with one cache time and different deadline sources are evicted at their own times`() {
    let (client, other) = (self.client(), ManualClock())
    _ = client.store(for: NumberQuery(1).manualTime(other))
    _ = client.store(for: NumberQuery(2))
    _ = client.store(for: NumberQuery(3).context { $0.operationDeadlines = WrappingDeadlines(clock: other) })
    _ = client.store(for: NumberQuery(4).context { $0.operationDeadlines = WrappingDeadlines(clock: other) })
    expect(other.sleeperCount(), equals: 2)
    self.clock.advance(by: .seconds(300))
    expect(Set(client.stores().paths), equals: Set([1, 3, 4].map { NumberQuery($0).path }))
    other.advance(by: .seconds(300))
    #expect(client.stores().isEmpty)
    expect(self.clock.sleeperCount() + other.sleeperCount(), equals: 0)
  }

  @Test
  func `Clearing a store forgets its time`() {
    let client = self.client()
    _ = client.store(for: NumberQuery(1))
    self.clock.advance(by: .seconds(200))
    client.clearStores()
    _ = client.store(for: NumberQuery(1))
    self.clock.advance(by: .seconds(200))
    expect(client.stores().count, equals: 1)
    self.clock.advance(by: .seconds(100))
    #expect(client.stores().isEmpty)
  }

  @Test
  func `Ten thousand stores are bounded by their number and by their time`() {
    let client = self.client(maximumIdleStores: 1_000)
    for number in 0..<10_000 { _ = client.store(for: NumberQuery(number)) }
    expect(client.stores().count, equals: 1_000)
    self.clock.advance(by: .seconds(300))
    #expect(client.stores().isEmpty)
    expect(self.clock.sleeperCount(), equals: 0)
  }

  @Test
  func `Cache times that no store has any longer leave few alarms behind`() {
    let client = self.client()
    for number in 0..<1_000 { _ = client.store(for: NumberQuery(number).cacheTime(.seconds(300 + number))) }
    expect(self.clock.sleeperCount(), equals: 1_000)
    client.clearStores()
    #expect(self.clock.sleeperCount() <= 8)

    // Cache times that stores have again get their alarms.
    for number in 0..<1_000 { _ = client.store(for: NumberQuery(number).cacheTime(.seconds(300 + number))) }
    self.clock.advance(by: .seconds(799))
    expect(client.stores().count, equals: 500)
    self.clock.advance(by: .seconds(500))
    #expect(client.stores().isEmpty)
    expect(self.clock.sleeperCount(), equals: 0)
  }

  @Test
  func `A held store is the one that others find while it is being evicted`() async {
    for _ in 0..<200 {
      let client = self.client(maximumIdleStores: 0)
      let held = client.store(for: NumberQuery(1))
      let others = await withTaskGroup(of: Int.self) { group in
        for _ in 0..<2 {
          group.addTask { (0..<20).count { _ in client.store(for: NumberQuery(1)) !== held } }
        }
        group.addTask {
          for _ in 0..<20 { held.subscribe(with: IntRecorder().handler).cancel() }
          return 0
        }
        return await group.reduce(0, +)
      }
      expect(others, equals: 0)
      expect(client.stores().count, equals: 1)
    }
  }
}

/// Deadlines that are a value around a clock.
private struct WrappingDeadlines: DeadlineSource {
  let clock: ManualClock

  var elapsed: Duration { self.clock.elapsed }

  func schedule(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> OperationSubscription {
    self.clock.schedule(after: duration, action)
  }
}
