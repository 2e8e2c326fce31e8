import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// `prefetch`, `ensureValue`, `cancel`, `isFetching`.
@Suite(.bounded, .warningsAreIssues)
struct FetchingTests {
  private let client = OperationClient()
  private let script = IntScript()

  @Test
  func `A fetch runs the query of a fresh store, too, and a set value is in the store`() async throws {
    let query = self.script.query().stale(after: .seconds(1_000))
    self.script.enqueue(.value(1), .value(2), .error(Refused(code: 1)))
    try await expect(self.client.fetch(query), equals: 1)
    try await expect(self.client.fetch(query), equals: 2)
    await #expect(throws: Refused(code: 1)) { try await self.client.fetch(query) }
    self.client.setValue(3, for: query)
    expect(self.client.store(for: query).currentValue, equals: 3)
    try await expect(self.client.ensureValue(for: query), equals: 3)
  }

  @Test
  func `A prefetch fills the store, and skips what is fresh`() async throws {
    let query = self.script.query().stale(after: .seconds(1_000))
    self.script.enqueue(.value(1))
    await self.client.prefetch(for: query)
    expect(self.client.store(for: query).currentValue, equals: 1)
    await self.client.prefetch(for: query)
    expect(self.script.runCount, equals: 1)
  }

  @Test
  func `A prefetch never throws; a failure shows in the state`() async throws {
    self.script.enqueue(.error(Refused(code: 2)))
    await self.client.prefetch(for: self.script.query())
    expect(self.client.store(for: self.script.query()).error as? Refused, equals: Refused(code: 2))
  }

  @Test
  func `A prefetch joins a run under way`() async throws {
    let store = self.client.store(for: self.script.query())
    let fetch = Task { try await store.fetch() }
    let run = try await self.script.next()
    let prefetch = Task.immediate { await self.client.prefetch(for: self.script.query()) }
    run.succeed(1)
    try await prefetch.finished()
    _ = try await fetch.finished()
    expect(self.script.runCount, equals: 1)
  }

  @Test
  func `A prefetch of a default value and of any stateful operation`() async throws {
    self.script.enqueue(.value(1), .value(2))
    await self.client.prefetch(for: self.script.query(path: [1]).defaultValue(0))
    expect(self.client.store(for: self.script.query(path: [1]).defaultValue(0)).currentValue, equals: 1)
    await self.client.prefetch(for: self.script.query(path: [2]), initialState: QueryState(initialValue: 9))
    let store = self.client.store(for: self.script.query(path: [2]))
    expect(store.currentValue, equals: 2)
    expect(store.initialValue, equals: 9)
  }

  @Test
  func `Ensuring a value can return a stale one at once, and refresh it behind`() async throws {
    let query = self.script.query()
    let store = self.client.store(for: query)
    store.currentValue = 1
    try await expect(self.client.ensureValue(for: query, refreshesBehind: true), equals: 1)
    let run = try await self.script.next()
    try await expect(self.client.ensureValue(for: query, refreshesBehind: true), equals: 1)
    run.succeed(2)
    await store.settled()
    expect(store.currentValue, equals: 2)
    expect(self.script.runCount, equals: 1)
  }

  @Test
  func `Without a value or after an invalidation, ensuring a value waits also if it may refresh behind`() async throws {
    let query = self.script.query().defaultValue(-1)
    self.script.enqueue(.value(1), .value(2))
    try await expect(self.client.ensureValue(for: query, refreshesBehind: true), equals: 1)
    self.client.invalidate(matching: query.path)
    try await expect(self.client.ensureValue(for: query, refreshesBehind: true), equals: 2)
  }

  @Test
  func `A failure behind a stale value shows in the state alone`() async throws {
    let query = self.script.query()
    let store = self.client.store(for: query)
    store.currentValue = 1
    try await expect(self.client.ensureValue(for: query, refreshesBehind: true), equals: 1)
    try await self.script.next().fail(Refused(code: 2))
    await store.settled()
    expect(store.currentValue, equals: 1)
    expect(store.error as? Refused, equals: Refused(code: 2))
  }

  @Test
  func `Stores are found by what they show`() async throws {
    let fresh = self.client.store(for: NumberQuery(1).stale(after: .seconds(1_000)))
    fresh.currentValue = 1
    let stale = self.client.store(for: NumberQuery(2))
    let subscription = stale.subscribe(with: QueryEventHandler())
    expect(self.client.stores(where: \.isStale).map(\.path), equals: [stale.path])
    expect(self.client.stores(matching: ["numbers"]) { $0.subscriberCount == 0 }.map(\.path), equals: [fresh.path])
    #expect(self.client.stores(matching: ["others"]) { _ in true }.isEmpty)
    #expect(throws: Refused.self) { try self.client.stores { _ throws(Refused) in throw Refused(code: 1) } }
    subscription.cancel()
  }

  @Test
  func `Ensuring a value fetches it once, and gives the cached one while that is fresh`() async throws {
    let clock = ManualClock()
    let query = self.script.query().stale(after: .seconds(60)).manualTime(clock)
    self.script.enqueue(.value(1), .value(2))
    try await expect(self.client.ensureValue(for: query), equals: 1)
    try await expect(self.client.ensureValue(for: query), equals: 1)
    clock.advance(by: .seconds(61))
    try await expect(self.client.ensureValue(for: query), equals: 2)
    expect(self.script.runCount, equals: 2)
  }

  @Test
  func `Ensuring a value after an invalidation fetches it`() async throws {
    let query = self.script.query().stale(after: .seconds(60))
    self.script.enqueue(.value(1), .value(2))
    _ = try await self.client.ensureValue(for: query)
    await self.client.invalidate().settled()
    try await expect(self.client.ensureValue(for: query), equals: 2)
  }

  @Test
  func `Ensuring a value throws what the fetch throws`() async throws {
    self.script.enqueue(.error(Refused()))
    await #expect(throws: Refused()) { try await self.client.ensureValue(for: self.script.query()) }
  }

  @Test
  func `A value that is there and fresh without a fetch is enough`() async throws {
    let query = self.script.query().staleWhenNoValue()
    expect(self.client.store(for: query, initialValue: 7).currentValue, equals: 7)
    try await expect(self.client.ensureValue(for: query), equals: 7)
    expect(self.script.runCount, equals: 0)
  }

  @Test
  func `A default value is no cached value`() async throws {
    let query = self.script.query().defaultValue(-1).stale(after: .seconds(100), whenNoValue: false)
    self.script.enqueue(.value(1))
    try await expect(self.client.ensureValue(for: query), equals: 1)
    try await expect(self.client.ensureValue(for: query), equals: 1)
  }

  @Test
  func `Cancelling returns when the runs have ended, and the stores are as they were`() async throws {
    let script = IntScript(endsOnCancellation: false)
    let first = self.client.store(for: script.query(path: ["a", 1]), initialValue: 1)
    let second = self.client.store(for: script.query(path: ["b", 1]), initialValue: 1)
    let before = StateFacts(first.state)
    let firstFetch = Task { try await first.fetch() }
    let firstRun = try await script.next()
    let secondFetch = Task { try await second.fetch() }
    let secondRun = try await script.next()
    firstRun.yield(5)
    expect(self.client.isFetching(), equals: 2)
    expect(self.client.isFetching(matching: ["a"]), equals: 1)
    let returned = Gate()
    let cancellation = Task {
      await self.client.cancel(matching: ["a"])
      returned.open()
    }
    try await firstRun.cancelled()
    #expect(!returned.isOpen)
    firstRun.fail(Refused(code: 3))
    try await cancellation.finished()
    await #expect(throws: Refused(code: 3)) { try await firstFetch.finished() }
    expect(StateFacts(first.state), equals: before)
    #expect(!secondRun.isCancelled)
    expect(self.client.isFetching(), equals: 1)
    secondRun.succeed(2)
    _ = try await secondFetch.finished()
    expect(self.client.isFetching(), equals: 0)
  }

  @Test
  func `Cancelling cancels runs that subscribers want`() async throws {
    let store = self.client.store(for: self.script.automaticQuery())
    let recorder = IntRecorder()
    let subscription = store.subscribe(with: recorder.handler)
    defer { subscription.cancel() }
    let run = try await self.script.next()
    await self.client.cancel()
    #expect(run.isCancelled)
    expect(recorder.digests, equals: [.state(nil), .state(nil, isLoading: true), .started, .state(nil), .ended])
  }

  @Test
  func `Cancelling waits for the runs that it has cancelled, not for later ones`() async throws {
    let script = IntScript(endsOnCancellation: false)
    let store = self.client.store(for: script.query())
    let old = Task { try await store.fetch() }
    let oldRun = try await script.next()
    let cancellation = Task.immediate { await self.client.cancel() }
    try await oldRun.cancelled()
    let new = Task { try await store.fetch() }
    let newRun = try await script.next()
    oldRun.succeed(1)
    _ = try? await old.finished()
    try await cancellation.finished()
    #expect(!newRun.isCancelled)
    newRun.succeed(2)
    try await expect(new.finished(), equals: 2)
    expect(store.currentValue, equals: 2)
  }

  @Test
  func `Cancelling nothing returns`() async {
    await self.client.cancel()
    await self.client.cancel(matching: ["nothing"])
    expect(self.client.isFetching(), equals: 0)
  }
}
