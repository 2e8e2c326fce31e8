import OperationCore
import OperationFreshness
import OperationTesting
import TestFixtures
import Testing

/// `.refreshesEarly(after:)`, and the jitter of `.stale(after:jitter:using:)`.
@Suite(.bounded, .warningsAreIssues) struct EarlyRefreshTests {
  private let clock = ManualClock()
  private let script = IntScript()

  private func store(_ share: Double = 0.2) -> IntStore {
    .detached(
      query: self.script.query().stale(after: .seconds(100)).refreshesEarly(after: 1 - share).manualTime(self.clock)
    )
  }

  @Test func `A read at the end of the freshness gets the value, and starts a run behind it`() async throws {
    let store = self.store()
    store.currentValue = 1
    self.clock.advance(by: .seconds(80))
    try await expect(store.fetch(), equals: 1)
    #expect(store.isLoading && !store.isStale)
    let run = try await self.script.next()
    run.succeed(2)
    await store.settled()
    #expect(store.currentValue == 2 && store.valueLastUpdatedAt == date(80))
  }

  @Test func `A fetch before that time runs and waits, as does one of a stale value`() async throws {
    let store = self.store()
    for seconds in [79, 100] {
      store.currentValue = 1
      self.clock.advance(by: .seconds(seconds))
      self.script.enqueue(.value(2))
      try await expect(store.fetch(), equals: 2)
      #expect(!store.isLoading)
    }
  }

  @Test func `All reads share one run behind them`() async throws {
    let store = self.store()
    store.currentValue = 1
    self.clock.advance(by: .seconds(90))
    for _ in 1...100 { try await expect(store.fetch(), equals: 1) }
    try await expect(store.value(maximumAge: .seconds(95)), equals: 1)
    let run = try await self.script.next()
    expect(self.script.runCount, equals: 1)
    run.succeed(2)
    await store.settled()
  }

  @Test func `A failure of the run behind goes to the state, and the next read starts another one`() async throws {
    let store = self.store()
    store.currentValue = 1
    self.clock.advance(by: .seconds(90))
    try await expect(store.fetch(), equals: 1)
    try await self.script.next().fail(Refused())
    await store.settled()
    #expect(store.error is Refused && store.currentValue == 1)
    try await expect(store.fetch(), equals: 1)
    try await self.script.next().succeed(3)
    await store.settled()
    #expect(store.error == nil && store.currentValue == 3)
  }

  @Test func `An initial value of a known date is a value for each reader`() async throws {
    let client = OperationClient.keeping
    let query = self.script.query(path: ["initial"]).stale(after: .seconds(100)).refreshesEarly(after: 0.5)
      .servesStale(softTimeout: .seconds(1), maximumAge: .seconds(500)).manualTime(self.clock)
    let store = client.store(for: query, initialValue: 1, updatedAt: self.clock.now())
    self.clock.advance(by: .seconds(10))
    try await expect(client.value(of: query, maximumAge: .seconds(10)), equals: 1)
    try await expect(client.ensureValue(for: query), equals: 1)
    self.clock.advance(by: .seconds(50))
    try await expect(client.ensureValue(for: query), equals: 1)
    try await self.script.next().fail(Refused())
    await store.settled()
    self.clock.advance(by: .seconds(50))
    self.script.enqueue(.error(Refused()))
    try await expect(store.fetch(), equals: 1)
  }

  @Test func `Ensuring a value and reading a young one start a run behind them`() async throws {
    let client = OperationClient.keeping
    let query = self.script.query(path: ["early"]).stale(after: .seconds(100)).refreshesEarly(after: 0.5)
      .manualTime(self.clock)
    let store = client.store(for: query)
    store.currentValue = 1
    try await expect(client.ensureValue(for: query), equals: 1)
    try await expect(client.value(of: query, maximumAge: .seconds(10)), equals: 1)
    #expect(!store.isLoading)
    self.clock.advance(by: .seconds(60))
    try await expect(client.ensureValue(for: query), equals: 1)
    try await self.script.next().succeed(2)
    await store.settled()
    self.clock.advance(by: .seconds(60))
    try await expect(client.value(of: query, maximumAge: .seconds(60)), equals: 2)
    try await self.script.next().succeed(3)
    await store.settled()
    expect(store.currentValue, equals: 3)
  }

  @Test func `An invalidated value is not read early`() async throws {
    let client = OperationClient.keeping
    let query = self.script.query(path: ["early"]).stale(after: .seconds(100)).refreshesEarly(after: 0).manualTime(
      self.clock
    )
    let store = client.store(for: query)
    store.currentValue = 1
    try await expect(store.fetch(), equals: 1)
    let early = try await self.script.next()
    client.invalidate()
    let fetch = Task.immediate { try await store.fetch() }
    early.succeed(2)
    try await self.script.next().succeed(3)
    try await expect(fetch.value, equals: 3)
  }

  @Test func `Values that another rule calls stale are not read early`() async throws {
    let store = IntStore.detached(
      query: self.script.query().stale(after: .seconds(100)).staleWhen { state, _ in state.currentValue == 1 }
        .refreshesEarly(after: 0).manualTime(self.clock)
    )
    store.currentValue = 1
    self.script.enqueue(.value(2))
    try await expect(store.fetch(), equals: 2)
  }

  @Test func `Without a freshness nothing is refreshed early`() async throws {
    let store = IntStore.detached(query: self.script.query().refreshesEarly(after: 0).manualTime(self.clock))
    store.currentValue = 1
    self.script.enqueue(.value(2))
    try await expect(store.fetch(), equals: 2)
  }

  @Test func `A cancelled reader gets no value, and starts nothing`() async throws {
    let store = self.store(1)
    store.currentValue = 1
    let fetch = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await store.fetch()
    }
    await #expect(throws: CancellationError.self) { try await fetch.value }
    await store.settled()
    expect(store.currentValue, equals: 1)
  }

  @Test func `The handler of a reader gets the value, and a notice tells of the run`() async throws {
    let notices = NoticeLog()
    let store = IntStore.detached(
      query: self.script.query().stale(after: .seconds(100)).refreshesEarly(after: 0).manualTime(self.clock)
        .context { [notices] in $0.operationNoticeObservers.append(notices) }
    )
    store.currentValue = 1
    self.clock.advance(by: .seconds(3))
    let results = Log<Int?>()
    let handler = IntHandler(onResultReceived: { result, _ in results.append(try? result.get()) })
    try await expect(store.fetch(handler: handler), equals: 1)
    expect(results.all, equals: [1])
    expect(notices.names, equals: [.refreshedEarly])
    expect(notices.all.first?.attributes["freshness.age"], equals: .duration(.seconds(3)))
    try await self.script.next().succeed(2)
    await store.settled()
    expect(results.all, equals: [1])
  }

  @Test(arguments: [-0.5, 1.5, .nan])
  func `A share that is none is reported`(_ share: Double) {
    _ = expectWarning(.invalidArgument) { self.script.query().refreshesEarly(after: 1 - share) }
  }

  @Test func `With a default value, the default is never read`() async throws {
    let store = OperationStore.detached(
      query: self.script.query().stale(after: .seconds(100)).refreshesEarly(after: 0).manualTime(self.clock)
        .defaultValue(7)
    )
    self.script.enqueue(.value(1))
    try await expect(store.fetch(), equals: 1)
    try await expect(store.fetch(), equals: 1)
    try await self.script.next().succeed(2)
    await store.settled()
    expect(store.currentValue, equals: 2)
  }
}

/// Each value has an expiry of its own.
@Suite(.bounded, .warningsAreIssues) struct FreshnessJitterTests {
  private let clock = ManualClock()
  private let script = IntScript()

  @Test func `Each value has its own expiry, which is drawn once`() {
    let shares = ChosenShares(0.5, 1, 0)
    let store = IntStore.detached(
      query: self.script.query().stale(after: .seconds(100), jitter: 0.2, using: shares.generator)
        .manualTime(self.clock)
    )
    #expect(store.isStale && shares.count.value == 0)
    for expiry in [90, 80, 100] {
      store.currentValue = expiry
      #expect(!store.isStale)
      self.clock.advance(by: .seconds(Double(expiry) - 0.5))
      #expect(!store.isStale)
      self.clock.advance(by: .seconds(1))
      #expect(store.isStale)
    }
    expect(shares.count.value, equals: 3)
  }

  @Test func `Stores of one operation draw from one generator`() {
    let shares = ChosenShares(0, 1)
    let query = self.script.query().stale(after: .seconds(100), jitter: 0.5, using: shares.generator)
      .manualTime(self.clock)
    let stores = [IntStore.detached(query: query), IntStore.detached(query: query)]
    for store in stores { store.currentValue = 1 }
    expect(stores.map(\.isStale), equals: [false, false])
    self.clock.advance(by: .seconds(60))
    expect(stores.map(\.isStale), equals: [false, true])
  }

  @Test func `Without jitter nothing is drawn, and extreme durations are kept`() {
    let shares = ChosenShares()
    let store = IntStore.detached(
      query: self.script.query().stale(after: .seconds(Int64.max), jitter: 0, using: shares.generator)
        .manualTime(self.clock)
    )
    store.currentValue = 1
    self.clock.advance(by: .seconds(1_000_000_000))
    #expect(!store.isStale && shares.count.value == 0)
    self.clock.setDate(date(-1))
    #expect(store.isStale)
  }

  @Test func `Invalid arguments are reported`() {
    _ = expectWarning(.invalidArgument) { self.script.query().stale(after: .seconds(-1), jitter: 0) }
    _ = expectWarning(.invalidArgument) { self.script.query().stale(after: .seconds(1), jitter: 2) }
  }
}
