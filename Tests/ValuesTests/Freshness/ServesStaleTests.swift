import OperationCore
import OperationDedupe
import OperationFreshness
import OperationTesting
import TestFixtures
import Testing

/// `.servesStale(softTimeout:maximumAge:)`.
@Suite(.bounded, .warningsAreIssues) struct ServesStaleTests {
  private let clock = ManualClock()
  private let script = IntScript()
  private let notices = NoticeLog()

  /// A store with the value 1, set at the beginning of the clock.
  private func store(
    after patience: Duration = .milliseconds(200),
    for age: Duration = .seconds(600),
    isShared: Bool = false
  ) -> IntStore {
    let query = self.script.query().servesStale(softTimeout: patience, maximumAge: age).manualTime(self.clock)
      .context { [notices] in $0.operationNoticeObservers.append(notices) }
    let store = isShared ? IntStore.detached(query: query.deduplicated()) : IntStore.detached(query: query)
    store.currentValue = 1
    return store
  }

  @Test func `A caller whose run is slow gets the last value, and the run goes on for the state`() async throws {
    let store = self.store()
    let fetch = Task { try await store.fetch() }
    let run = try await self.script.next()
    try await self.clock.sleepers(count: 1)
    self.clock.advance(by: .milliseconds(199))
    #expect(self.notices.all.isEmpty)
    self.clock.advance(by: .milliseconds(1))
    try await expect(fetch.value, equals: 1)
    #expect(store.isLoading && !run.isCancelled && store.currentValue == 1)
    run.succeed(2)
    await store.settled()
    #expect(store.currentValue == 2 && store.valueUpdateCount == 2)
  }

  @Test func `A caller whose run is quick gets its value, and leaves no deadline behind`() async throws {
    let store = self.store()
    let fetch = Task { try await store.fetch() }
    let run = try await self.script.next()
    try await self.clock.sleepers(count: 1)
    run.succeed(2)
    try await expect(fetch.value, equals: 2)
    #expect(self.clock.sleeperCount() == 0 && self.notices.all.isEmpty)
  }

  @Test func `A caller whose run fails gets the last value, and the state has the error`() async throws {
    let store = self.store()
    self.script.enqueue(.error(Refused()))
    try await expect(store.fetch(), equals: 1)
    #expect(store.error is Refused && store.currentValue == 1 && store.valueUpdateCount == 1)
    expect(self.clock.sleeperCount(), equals: 0)
  }

  @Test func `Others join the run that goes on, and its failure is in the state`() async throws {
    let store = self.store(after: .seconds(1), isShared: true)
    let first = Task { try await store.fetch() }
    let run = try await self.script.next()
    try await self.clock.sleepers(count: 1)
    self.clock.advance(by: .seconds(1))
    try await expect(first.value, equals: 1)
    let second = Task { try await store.fetch() }
    try await self.clock.sleepers(count: 1)
    run.fail(Refused())
    try await expect(second.value, equals: 1)
    #expect(self.script.runCount == 1 && store.error is Refused)
  }

  @Test func `A value is served up to the maximal age, and not after it`() async throws {
    let store = self.store()
    self.script.enqueue(.error(Refused()), .error(Refused()), .suspend)
    self.clock.advance(by: .seconds(600))
    try await expect(store.fetch(), equals: 1)
    self.clock.advance(by: .milliseconds(1))
    await #expect(throws: Refused.self) { try await store.fetch() }
    let fetch = Task { try await store.fetch() }
    let run = try await self.script.next()
    try await self.clock.sleepers(count: 1)
    self.clock.advance(by: .seconds(10))
    run.succeed(2)
    try await expect(fetch.value, equals: 2)
  }

  @Test func `Without a value, or with a date in the future, nothing is served`() async throws {
    let store = self.store()
    store.resetState()
    self.script.enqueue(.error(Refused()), .error(Refused()))
    await #expect(throws: Refused.self) { try await store.fetch() }
    store.currentValue = 1
    self.clock.setDate(date(-10))
    await #expect(throws: Refused.self) { try await store.fetch() }
  }

  @Test func `With no patience, a value is served unless the run ends at once`() async throws {
    let store = self.store(after: .zero)
    try await expect(store.fetch(), equals: 1)
    try await self.script.next().succeed(2)
    await store.settled()
    self.script.enqueue(.value(3))
    try await expect(store.fetch(), equals: 3)
  }

  @Test func `The handler of the caller, the run and its outcome tell of it, and so does a notice`() async throws {
    let store = self.store()
    let callers = Log<OperationServedStale.Reason?>()
    let outcomes = Log<OperationServedStale.Reason?>()
    let subscription = store.subscribe(
      with: IntHandler(onResultReceived: { _, context in outcomes.append(context.servedStale?.reason) })
    )
    self.script.enqueue(.value(1))
    try await store.fetch()
    let handler = IntHandler(onResultReceived: { _, context in callers.append(context.servedStale?.reason) })
    let fetch = Task { try await store.fetch(handler: handler) }
    let run = try await self.script.next()
    expect(run.context.servedStale, equals: nil)
    try await self.clock.sleepers(count: 1)
    self.clock.advance(by: .milliseconds(200))
    try await expect(fetch.value, equals: 1)
    expect(callers.all, equals: [.slowRun])
    expect(run.context.servedStale, equals: OperationServedStale(reason: .slowRun, age: .milliseconds(200)))
    run.succeed(2)
    await store.settled()
    #expect(outcomes.all == [nil, .slowRun] && callers.count == 1)
    expect(self.notices.names, equals: [.servedStale])
    expect(self.notices.all.first?.attributes["freshness.reason"], equals: .string("slow run"))
    // The next run knows nothing of it.
    self.script.enqueue(.value(3))
    try await store.fetch()
    expect(outcomes.all, equals: [nil, .slowRun, nil])
    subscription.cancel()
  }

  @Test func `The handler of a caller hears of the failure, and then of the value`() async throws {
    let store = self.store()
    let reasons = Log<OperationServedStale.Reason?>()
    self.script.enqueue(.error(Refused()))
    let handler = IntHandler(onResultReceived: { _, context in reasons.append(context.servedStale?.reason) })
    try await expect(store.fetch(handler: handler), equals: 1)
    expect(reasons.all, equals: [nil, .failure])
  }

  @Test func `Ten thousand callers of one run get the last value`() async throws {
    let store = self.store(after: .seconds(1), isShared: true)
    // Each joins before the next one begins.
    let fetches = (1...10_000).map { _ in Task.immediate { try await store.fetch() } }
    let run = try await self.script.next()
    run.fail(Refused())
    for fetch in fetches { try await expect(fetch.value, equals: 1) }
    #expect(self.script.runCount == 1 && self.clock.sleeperCount() == 0)
  }

  @Test func `A task that a caller makes gets its own outcome`() async throws {
    let store = self.store(after: .zero)
    self.script.enqueue(.error(Refused()))
    let task = store.fetchTask()
    await #expect(throws: Refused.self) { try await task.runIfNeeded() }
  }

  @Test func `Other stores and runners do not take it over from a context`() async throws {
    let store = self.store()
    let failing = IntScript(default: .error(Refused()))
    let other = IntStore.detached(query: failing.query(), initialContext: store.context)
    other.currentValue = 3
    await #expect(throws: Refused.self) { try await other.fetch() }
  }

  @Test func `An invalidated value is served to nobody`() async throws {
    let client = OperationClient.keeping
    let query = self.script.query(path: ["stale"]).servesStale(softTimeout: .seconds(1), maximumAge: .seconds(600))
      .manualTime(self.clock)
    let store = client.store(for: query)
    store.currentValue = 1
    client.invalidate()
    self.script.enqueue(.error(Refused()), .value(2), .error(Refused()))
    await #expect(throws: Refused.self) { try await store.fetch() }
    try await expect(store.fetch(), equals: 2)
    try await expect(store.fetch(), equals: 2)
    // An invalidation during the wait counts, too.
    let fetch = Task { try await store.fetch() }
    let run = try await self.script.next()
    try await self.clock.sleepers(count: 1)
    client.invalidate()
    self.clock.advance(by: .seconds(1))
    run.fail(Refused())
    await #expect(throws: Refused.self) { try await fetch.value }
  }

  @Test func `Negative durations are reported`() {
    _ = expectWarning(.invalidArgument) {
      self.script.query().servesStale(softTimeout: .seconds(-1), maximumAge: .seconds(1))
    }
    _ = expectWarning(.invalidArgument) {
      self.script.query().servesStale(softTimeout: .seconds(1), maximumAge: .seconds(-1))
    }
  }

  // MARK: - A cancelled caller gets no value, wherever it is.

  @Test(arguments: [false, true])
  func `A caller that is cancelled before the run gets no value`(_ isShared: Bool) async throws {
    let store = self.store(isShared: isShared)
    let fetch = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await store.fetch()
    }
    await #expect(throws: CancellationError.self) { try await fetch.value }
    await store.settled()
    #expect(store.currentValue == 1 && store.error == nil && self.clock.sleeperCount() == 0)
  }

  @Test(arguments: [false, true])
  func `A caller that is cancelled during the run gets no value`(_ isShared: Bool) async throws {
    let store = self.store(isShared: isShared)
    let fetch = Task { try await store.fetch() }
    let run = try await self.script.next()
    try await self.clock.sleepers(count: 1)
    fetch.cancel()
    await #expect(throws: CancellationError.self) { try await fetch.value }
    try await run.cancelled()
    await store.settled()
    #expect(store.error == nil && self.clock.sleeperCount() == 0 && self.notices.all.isEmpty)
  }

  @Test func `A cancelled run that fails with an error of its own is no failure`() async throws {
    let script = IntScript(endsOnCancellation: false)
    let store = IntStore.detached(
      query: script.query().servesStale(softTimeout: .seconds(1), maximumAge: .seconds(600)).manualTime(self.clock)
    )
    store.currentValue = 1
    let fetch = Task { try await store.fetch() }
    let run = try await script.next()
    try await self.clock.sleepers(count: 1)
    fetch.cancel()
    try await run.cancelled()
    self.clock.advance(by: .seconds(2))
    run.fail(Refused())
    await #expect(throws: Refused.self) { try await fetch.value }
  }

  @Test func `One of several callers leaves, and the others are served`() async throws {
    let store = self.store(after: .seconds(1), isShared: true)
    let first = Task { try await store.fetch() }
    let run = try await self.script.next()
    let second = Task { try await store.fetch() }
    try await self.clock.sleepers(count: 2)
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    self.clock.advance(by: .seconds(1))
    try await expect(second.value, equals: 1)
    #expect(!run.isCancelled)
    run.succeed(2)
    await store.settled()
    expect(store.currentValue, equals: 2)
  }

  @Test func `A cancellation of all runs serves nobody, also behind callers that have left`() async throws {
    let client = OperationClient.keeping
    let query = self.script.query(path: ["stale"]).servesStale(softTimeout: .seconds(1), maximumAge: .seconds(600))
      .manualTime(self.clock)
    let store = client.store(for: query)
    store.currentValue = 1
    let first = Task { try await store.fetch() }
    let run = try await self.script.next()
    try await self.clock.sleepers(count: 1)
    self.clock.advance(by: .seconds(1))
    try await expect(first.value, equals: 1)
    let second = Task { try await store.fetch() }
    _ = try await self.script.next()
    await client.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
    #expect(run.isCancelled && !store.isLoading && store.currentValue == 1)
  }
}
