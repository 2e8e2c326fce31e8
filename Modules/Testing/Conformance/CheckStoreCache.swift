public import OperationCore
internal import OperationFoundation
public import Testing

/// Checks that a cache of stores follows the rules that clients rely on; each broken rule is an issue of the test.
///
/// ```swift
/// @Test func keepsTheRules() async throws {
///   try await checkStoreCache { SmallCache() }
/// }
/// ```
///
/// ``StoreCacheRule`` lists the rules: idle stores are kept (`keeping`) until their cache time has passed
/// (`cacheTime`) since they were in use (`activity`), also stores of several clients (`clients`). Nothing retains a
/// removed store (`release`). Stores are evicted with no lock held (`unlocked`), other stores may come and go meanwhile
/// (`reentrancy`), and several threads may use the cache (`threads`).
///
/// The check makes clients with the cache, and stores that take their deadlines from a ``ManualClock``.
///
/// - Parameters:
///   - rules: The rules to check.
///   - exceptions: Rules that the cache breaks on purpose: `cacheTime`, `activity` and `clients` for one that does not
///     measure the time.
///   - limit: The longest time for each wait; nil for ten seconds, unless ``Testing/Trait/waitLimit(_:)`` is set.
///   - sourceLocation: Where issues are reported.
///   - make: Makes a cache that has room for a thousand idle stores. Called once for each rule.
/// - Throws: `CancellationError` when the task is cancelled, and the errors of `make`.
public func checkStoreCache<Cache: OperationClient.StoreCache>(
  _ rules: some Sequence<StoreCacheRule> = StoreCacheRule.allCases,
  except exceptions: Set<StoreCacheRule> = [],
  within limit: Duration? = nil,
  sourceLocation: SourceLocation = #_sourceLocation,
  _ make: () async throws -> Cache
) async throws {
  for rule in rules where !exceptions.contains(rule) {
    let cache = try await make()
    let report = RuleReport("store cache", rule: rule, within: limit, at: sourceLocation)
    try await report.perform { try await StoreCacheCheck(cache: cache, report: report).perform(rule) }
  }
}

private struct StoreCacheCheck<Cache: OperationClient.StoreCache>: Sendable {
  private let report: RuleReport
  private let clock = ManualClock()
  /// Two clients that share the cache.
  private let clients: [OperationClient]
  private let lifetimes = LifetimeTracker()
  private let script = OperationScript<Int, any Error>(default: .value(1))

  init(cache: Cache, report: RuleReport) {
    var context = OperationContext()
    context.use(self.clock)
    self.report = report
    self.clients = (0..<2).map { _ in OperationClient(defaultContext: context, storeCache: cache) }
  }

  func perform(_ rule: StoreCacheRule) async throws {
    switch rule {
    case .keeping: self.checkKeeping()
    case .cacheTime: try await self.checkCacheTime()
    case .activity: try await self.checkActivity()
    case .clients: try await self.checkClients()
    case .release: try await self.checkRelease()
    case .unlocked: try await self.checkLocks()
    case .reentrancy: try await self.checkReentrancy()
    case .threads: try await self.checkThreads()
    }
  }

  private var client: OperationClient { self.clients[0] }
  private var limit: Duration { self.report.limit }

  /// Makes or finds a store, which is counted while it is alive.
  private func store(
    _ number: Int,
    in client: OperationClient,
    for cacheTime: Duration = .seconds(5)
  ) -> OperationStore<QueryState<Int, any Error>> {
    let token = self.lifetimes.token()
    let query = self.script.query(path: ["checkStoreCache", number]).cacheTime(cacheTime)
    return client.store(for: query.context { _ in token.touch() })
  }

  private func has(_ number: Int, in client: OperationClient? = nil) -> Bool {
    (client ?? self.client).store(with: ["checkStoreCache", number]) != nil
  }

  /// Waits until all stores are released.
  private func waitsForRelease(_ what: String, _ remedy: String) async throws -> Bool {
    try await self.report.waits(remedy) { try await self.lifetimes.release(within: self.limit, of: what) }
  }
}

// MARK: - The checks

extension StoreCacheCheck {
  private func checkKeeping() {
    self.store(1, in: self.client).setResult(to: .success(7))
    _ = self.store(2, in: self.client)
    let value = self.store(1, in: self.client).currentValue
    self.report.expect(
      value == 7,
      "an idle store with the value 7 was evicted at once, so the next look-up found \(value.map { "\($0)" } ?? "none"). "
        + "Keep idle stores until there are too many, or until their time has passed."
    )
  }

  private func checkCacheTime() async throws {
    _ = self.store(1, in: self.client)
    _ = self.store(2, in: self.client, for: .seconds(9))
    let end = self.clock.now().addingTimeInterval(5)
    self.clock.advance(by: .seconds(1))
    let date = self.store(1, in: self.client).inspect().evictionDate
    self.report.expect(
      date.map { $0 == end } ?? true,
      """
      `evictionDate(of:)` returned another date than the end of a cache time of 5 seconds. Return that end by the clock of \
      the store's context, or nil.
      """
    )
    self.clock.advance(by: .milliseconds(3_999))
    self.report.expect(
      self.has(1) && self.has(2),
      "an idle store with a cache time of 5 seconds was gone after 4.999 seconds. Evict it when its time has passed."
    )
    self.clock.advance(by: .seconds(1))
    self.report.expect(
      self.has(2),
      "an idle store with a cache time of 9 seconds was gone after 6 seconds. Read the time from the store's context."
    )
    self.clock.advance(by: .seconds(4))
    _ = try await self.waitsForRelease(
      "idle stores with cache times of 5 and 9 seconds to be evicted after 10 seconds",
      "Schedule with the deadlines of the store's context, and evict the store then."
    )
  }

  private func checkActivity() async throws {
    _ = self.store(1, in: self.client)
    self.clock.advance(by: .seconds(1))
    self.use(1)
    self.clock.advance(by: .seconds(4))
    self.report.expect(
      self.has(1),
      """
      an idle store with a cache time of 5 seconds was gone 4 seconds after it was in use. Remove it in \
      `storeDidBecomeActive(_:)`, and start its cache time again in `storeDidBecomeIdle(_:)`.
      """
    )
    self.clock.advance(by: .seconds(2))
    _ = try await self.waitsForRelease(
      "an idle store with a cache time of 5 seconds to be evicted 6 seconds after it was in use",
      "Start its cache time again in `storeDidBecomeIdle(_:)`."
    )
  }

  /// Uses a store for a moment.
  private func use(_ number: Int) {
    self.store(number, in: self.client).subscribe(with: OperationEventHandler()).cancel()
  }

  private func checkClients() async throws {
    for client in self.clients { _ = self.store(1, in: client) }
    self.clients[1].clearStores()
    self.report.expect(
      self.has(1),
      "two clients had a store at one path, and lost both when one was removed. Distinguish them by their `id`."
    )
    _ = self.store(1, in: self.clients[1])
    self.clock.advance(by: .seconds(6))
    _ = try await self.waitsForRelease(
      "the idle stores of two clients at one path to be evicted after their cache time",
      "Distinguish them by their `id`, not by their path."
    )
  }

  private func checkRelease() async throws {
    _ = self.store(1, in: self.client)
    _ = self.store(2, in: self.client)
    self.use(2)
    self.client.clearStores()
    _ = try await self.waitsForRelease(
      "idle stores to be released after their client has removed them",
      "Release a store in `storeDidBecomeActive(_:)`."
    )
  }
}

// MARK: - Locks and threads

extension StoreCacheCheck {
  private func lockProbe() -> LockProbe {
    LockProbe(within: self.limit) { [lifetimes = self.lifetimes, script = self.script, client = self.clients[1]] in
      let token = lifetimes.token()
      let query = script.query(path: ["checkStoreCache", "probe"]).context { _ in token.touch() }
      _ = client.store(for: query)
      client.clearStores()
    }
  }

  private func expectNoFinding(of probe: LockProbe) {
    self.report.expect(
      probe.finding == nil,
      "\(probe.finding ?? "") with a lock held: another client could not use the cache for \(self.limit). "
        + "Take the stores out of the lock, and evict and release them after it."
    )
  }

  /// Calls `action` when a store is removed, on the thread that removes it.
  private func onRemoval(_ action: @escaping @Sendable () -> Void) -> OperationSubscription {
    self.client.subscribe { change in
      if !change.storesRemoved.isEmpty { action() }
    }
  }

  private func checkLocks() async throws {
    let probe = self.lockProbe()
    let removal = self.onRemoval { probe.probe("a store was evicted") }
    defer { removal.cancel() }
    self.makeStore(1, probing: probe)
    self.clock.advance(by: .seconds(6))
    self.expectNoFinding(of: probe)
  }

  private func makeStore(_ number: Int, probing probe: LockProbe) {
    let released = ReleaseProbe { probe.probe("a store was released") }
    let query = self.script.query(path: ["checkStoreCache", number]).cacheTime(.seconds(5))
    _ = self.client.store(for: query.context { _ in released.touch() })
  }

  private func checkReentrancy() async throws {
    let (probe, isArmed) = (self.lockProbe(), AtomicFlag(true))
    let removal = self.onRemoval {
      guard isArmed.set(false), probe.probe("a store was evicted") else { return }
      // One store is removed from the idle ones, and another is added.
      self.clients[1].clearStores()
      _ = self.store(9, in: self.clients[1])
    }
    defer { removal.cancel() }
    for number in 1...3 { _ = self.store(number, in: self.client) }
    for number in 4...6 { _ = self.store(number, in: self.clients[1]) }
    self.clock.advance(by: .seconds(6))
    guard probe.finding == nil else { return self.expectNoFinding(of: probe) }
    self.clock.advance(by: .seconds(6))
    _ = try await self.waitsForRelease(
      "all idle stores to be evicted, also those that came and went while another one was evicted",
      "Evict a copy of the stores, so that others may come and go meanwhile."
    )
  }

  private func checkThreads() async throws {
    try await Threads.call(4, within: self.limit) { number in
      for round in 0..<50 {
        let store = self.store(number * 100 + round, in: self.clients[number % 2])
        if round % 3 == 0 { store.subscribe(with: OperationEventHandler()).cancel() }
        if number == 0, round % 10 == 0 { self.clock.advance(by: .seconds(1)) }
        if round % 7 == 0 { _ = self.clients[number % 2].clearStore(with: store.path) }
      }
    }
    self.clock.advance(by: .seconds(20))
    _ = try await self.waitsForRelease(
      "all idle stores to be evicted that were made on several threads at the same time",
      "Guard what threads share by one lock."
    )
  }
}
