import OperationCore
import OperationEvents
import OperationFreshness
import OperationTesting
import TestFixtures
import Testing

/// `.servesStale(softTimeout:maximumAge:retriesAfter:)`, `.servesStale(onFailureFor:)`, `.refreshesEarly(after:retriesAfter:)`.
@Suite(.bounded, .warningsAreIssues)
struct RetryPauseTests {
  private let clock = ManualClock()
  private let script = IntScript()
  private let notices = NoticeLog()

  private func query(retriesAfter period: Duration = .seconds(30)) -> some QueryRequest<Int, any Error> {
    self.script.query(path: ["pause"]).servesStale(onFailureFor: .seconds(600), retriesAfter: period).manualTime(
      self.clock
    )
    .context { [notices] in $0.operationNoticeObservers.append(notices) }
  }

  /// A store with the value 1, set at the beginning of the clock.
  private func store(retriesAfter period: Duration = .seconds(30)) -> IntStore {
    let store = IntStore.detached(query: self.query(retriesAfter: period))
    store.currentValue = 1
    return store
  }

  @Test func `Two hundred reads after a failure get the last value, and the server is asked once in a period`()
    async throws
  {
    let store = self.store()
    for count in 1...3 {
      self.script.enqueue(.error(Refused()))
      for _ in 1...200 { try await expect(store.fetch(), equals: 1) }
      expect(self.script.runCount, equals: count)
      self.clock.advance(by: .seconds(30))
    }
    #expect(store.error is Refused && self.notices.names.allSatisfy { $0 == .servedStale })
    self.script.enqueue(.value(2))
    try await expect(store.fetch(), equals: 2)
    self.script.enqueue(.value(3))
    try await expect(store.fetch(), equals: 3)
  }

  @Test func `Without a period each read asks`() async throws {
    let store = self.store(retriesAfter: .zero)
    self.script.enqueue(.error(Refused()), .error(Refused()))
    try await expect(store.fetch(), equals: 1)
    try await expect(store.fetch(), equals: 1)
    expect(self.script.runCount, equals: 2)
  }

  @Test func `With a patience the period is the same`() async throws {
    let store = IntStore.detached(
      query: self.script.query()
        .servesStale(softTimeout: .seconds(1), maximumAge: .seconds(600), retriesAfter: .seconds(30))
        .manualTime(self.clock)
    )
    store.currentValue = 1
    let slow = Task { try await store.fetch() }
    let run = try await self.script.next()
    try await self.clock.sleepers(count: 1)
    self.clock.advance(by: .seconds(1))
    try await expect(slow.value, equals: 1)
    // The failure comes when nobody waits any more.
    run.fail(Refused())
    await store.settled()
    for _ in 1...200 { try await expect(store.fetch(), equals: 1) }
    expect(self.script.runCount, equals: 1)
  }

  @Test func `On a failure only means that a caller waits for a slow run`() async throws {
    let store = self.store()
    let fetch = Task { try await store.fetch() }
    let run = try await self.script.next()
    expect(self.clock.sleeperCount(), equals: 0)
    run.succeed(2)
    try await expect(fetch.value, equals: 2)
  }

  @Test func `A value that is too old is not served, and does not rest`() async throws {
    let store = self.store()
    self.clock.advance(by: .seconds(590))
    self.script.enqueue(.error(Refused()), .error(Refused()), .error(Refused()))
    try await expect(store.fetch(), equals: 1)
    self.clock.advance(by: .seconds(11))
    await #expect(throws: Refused.self) { try await store.fetch() }
    await #expect(throws: Refused.self) { try await store.fetch() }
    expect(self.script.runCount, equals: 3)
  }

  @Test func `Reads of each kind rest, and one with a maximal age asks`() async throws {
    let client = OperationClient.keeping
    let query = self.query()
    let store = client.store(for: query)
    store.currentValue = 1
    self.clock.advance(by: .seconds(10))
    self.script.enqueue(.error(Refused()))
    try await expect(client.ensureValue(for: query), equals: 1)
    try await expect(client.ensureValue(for: query), equals: 1)
    try await expect(client.ensureValue(for: query, refreshesBehind: true), equals: 1)
    let subscription = store.subscribe(with: IntHandler())
    #expect(!store.isLoading && self.script.runCount == 1)
    subscription.cancel()
    self.script.enqueue(.value(2))
    try await expect(client.value(of: query, maximumAge: .seconds(5)), equals: 2)
  }

  @Test func `An invalidation, a value and a reset end the pause`() async throws {
    let client = OperationClient.keeping
    let store = client.store(for: self.query())
    for end in 0..<3 {
      store.currentValue = 1
      self.script.enqueue(.error(Refused()))
      try await expect(store.fetch(), equals: 1)
      switch end {
      case 0: client.invalidate(matching: ["pause"])
      case 1: store.currentValue = 5
      default: store.resetState()
      }
      self.script.enqueue(.value(2))
      try await expect(store.fetch(), equals: 2)
    }
  }

  @Test func `After a clock was set back, callers ask`() async throws {
    let store = self.store()
    self.clock.setDate(date(100))
    store.currentValue = 1
    self.script.enqueue(.error(Refused()), .value(2))
    try await expect(store.fetch(), equals: 1)
    self.clock.setDate(date(99))
    try await expect(store.fetch(), equals: 2)
  }

  @Test func `A run that was rejected here has asked nobody, and one that was cancelled has not failed`() async throws {
    let store = self.store()
    self.script.enqueue(.error(Rejected()), .error(CancellationError()), .value(2))
    try await expect(store.fetch(), equals: 1)
    await #expect(throws: CancellationError.self) { try await store.fetch() }
    try await expect(store.fetch(), equals: 2)
  }

  @Test func `An early refresh that failed is not tried again by each read`() async throws {
    let store = IntStore.detached(
      query: self.script.query().stale(after: .seconds(100)).refreshesEarly(after: 0.5, retriesAfter: .seconds(20))
        .manualTime(self.clock)
    )
    store.currentValue = 1
    self.clock.advance(by: .seconds(60))
    for count in 1...2 {
      try await expect(store.fetch(), equals: 1)
      try await self.script.next().fail(Refused())
      await store.settled()
      for _ in 1...200 { try await expect(store.fetch(), equals: 1) }
      #expect(self.script.runCount == count && !store.isLoading)
      self.clock.advance(by: .seconds(20))
    }
    // The value is stale: a read waits.
    self.script.enqueue(.value(2))
    try await expect(store.fetch(), equals: 2)
  }

  @Test func `It is explained`() async throws {
    let store = self.store()
    self.script.enqueue(.error(Refused()))
    try await expect(store.fetch(), equals: 1)
    self.clock.advance(by: .seconds(10))
    expect(
      store.explain().sections.first?.facts,
      equals: [
        "a caller got the stale value 10 s ago",
        "a stale value is served until it is 10 min old",
        "after a failure 10 s ago, no caller starts a run for 20 s more",
      ]
    )
    self.clock.advance(by: .seconds(20))
    expect(
      store.explain().sections.first?.facts,
      equals: [
        "a caller got the stale value 30 s ago", "a stale value is served until it is 10 min old",
      ]
    )
  }
}

/// `.cachesFailures(for:when:)`.
@Suite(.bounded, .warningsAreIssues)
struct CachedFailureTests {
  private let clock = ManualClock()
  private let script = IntScript()
  private let notices = NoticeLog()
  private let client = OperationClient.keeping

  private var query: some QueryRequest<Int, any Error> {
    self.script.query(path: ["missing"]).cachesFailures(for: .seconds(30)) { $0 is Refused }.manualTime(self.clock)
      .context { [notices] in $0.operationNoticeObservers.append(notices) }
  }

  @Test func `A thousand readers of what is missing make one request in a period`() async throws {
    for count in 1...2 {
      self.script.enqueue(.error(Refused(code: count)))
      for _ in 1...1000 {
        await #expect(throws: Refused(code: count)) { try await self.client.ensureValue(for: self.query) }
      }
      expect(self.script.runCount, equals: count)
      self.clock.advance(by: .seconds(30))
    }
    #expect(self.notices.names.count == 1998 && self.notices.names.allSatisfy { $0 == .cachedFailure })
  }

  @Test func `Readers of each kind get the failure, and a task of a caller asks`() async throws {
    let store = self.client.store(for: self.query)
    self.script.enqueue(.error(Refused()))
    await #expect(throws: Refused.self) { try await store.fetch() }
    let errors = Log<String>()
    let handler = IntHandler(onResultReceived: { result, _ in errors.append("\(result)") })
    await #expect(throws: Refused.self) { try await store.fetch(handler: handler) }
    await #expect(throws: Refused.self) { try await store.value(maximumAge: .seconds(1)) }
    await self.client.prefetch(for: self.query)
    let subscription = store.subscribe(with: IntHandler())
    #expect(self.script.runCount == 1 && errors.count == 1)
    expect(store.errorUpdateCount, equals: 1)
    self.script.enqueue(.value(2))
    try await expect(store.fetchTask().runIfNeeded(), equals: 2)
    subscription.cancel()
  }

  @Test func `Other failures do not count`() async throws {
    self.script.enqueue(.error(Rejected()), .error(NotFound()), .error(NotFound()), .value(1))
    await #expect(throws: Rejected.self) { try await self.client.ensureValue(for: self.query) }
    for _ in 1...2 {
      await #expect(throws: NotFound.self) { try await self.client.ensureValue(for: self.query) }
    }
    try await expect(self.client.ensureValue(for: self.query), equals: 1)
  }

  @Test func `An invalidation ends it, and a failure after that counts again`() async throws {
    let store = self.client.store(for: self.query)
    for count in 1...3 {
      self.script.enqueue(.error(Refused(code: count)))
      for _ in 1...10 { await #expect(throws: Refused(code: count)) { try await store.fetch() } }
      expect(self.script.runCount, equals: count)
      self.client.invalidate(matching: ["missing"])
    }
  }

  @Test func `An invalidation reruns for subscribers while a failure rests`() async throws {
    let store = self.client.store(for: self.query)
    self.script.enqueue(.error(Refused()))
    await #expect(throws: Refused.self) { try await store.fetch() }
    let subscription = store.subscribe(with: IntHandler())
    self.script.enqueue(.value(2))
    await self.client.invalidate(matching: ["missing"]).settled()
    expect(store.currentValue, equals: 2)
    subscription.cancel()
  }

  @Test func `The failure of a run from before an invalidation is no answer after it`() async throws {
    let store = self.client.store(for: self.query)
    let fetch = Task { try await store.fetch() }
    let run = try await self.script.next()
    self.client.invalidate(matching: ["missing"])
    run.fail(Refused())
    await #expect(throws: Refused.self) { try await fetch.value }
    self.script.enqueue(.value(2))
    try await expect(store.fetch(), equals: 2)
  }

  @Test func `With a stale value to serve, callers get that`() async throws {
    let store = IntStore.detached(
      query: self.script.query().cachesFailures(for: .seconds(30)).servesStale(onFailureFor: .seconds(20)).manualTime(
        self.clock
      )
    )
    store.currentValue = 1
    self.script.enqueue(.error(Refused()))
    for _ in 1...100 { try await expect(store.fetch(), equals: 1) }
    self.clock.advance(by: .seconds(21))
    await #expect(throws: Refused.self) { try await store.fetch() }
    expect(self.script.runCount, equals: 1)
  }

  @Test func `It is explained`() async throws {
    let store = self.client.store(for: self.query)
    self.script.enqueue(.error(Refused()))
    await #expect(throws: Refused.self) { try await store.fetch() }
    self.clock.advance(by: .seconds(10))
    expect(store.explain().sections.first?.facts, equals: ["a failure of 10 s ago is the answer for 20 s more"])
    #expect(store.explain().modifiers.contains(".cachesFailures(for: 30 s)"))
  }

  @Test func `Negative durations are reported`() {
    _ = expectWarning(.invalidArgument) { self.script.query().cachesFailures(for: .seconds(-1)) }
    _ = expectWarning(.invalidArgument) { self.script.query().servesStale(onFailureFor: .seconds(-1)) }
    _ = expectWarning(.invalidArgument) {
      self.script.query().servesStale(onFailureFor: .seconds(1), retriesAfter: .seconds(-1))
    }
    _ = expectWarning(.invalidArgument) { self.script.query().refreshesEarly(after: 0.5, retriesAfter: .seconds(-1)) }
  }
}

/// Random schedules against a model of what a failure means later.
@Suite(.bounded, .warningsAreIssues)
struct FailureRestModelTests {
  private struct Model {
    var value: (number: Int, date: Int)?
    var isInvalidated = false
    var failure: (code: Int, date: Int)?

    /// What a fetch gets without a run; nil if it runs.
    func answer(at now: Int) -> Result<Int, Refused>? {
      guard let failure else { return nil }
      let isAnswer = !failure.code.isMultiple(of: 2) && now - failure.date <= 9
      if let served = self.served(at: now), isAnswer || now - failure.date <= 24 { return .success(served) }
      return isAnswer ? .failure(Refused(code: failure.code)) : nil
    }

    /// What a fetch gets whose run fails, if that is not the failure.
    func served(at now: Int) -> Int? {
      self.value.flatMap { !self.isInvalidated && now - $0.date <= 300 ? $0.number : nil }
    }
  }

  @Test(arguments: 1...30)
  func `Readers get what the rules say after a failure`(_ seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let (clock, script, client) = (ManualClock(), IntScript(), OperationClient.keeping)
    let query = script.query(path: ["rest"])
      .servesStale(onFailureFor: .milliseconds(300_500), retriesAfter: .milliseconds(24_500))
      .cachesFailures(for: .milliseconds(9_500)) { ($0 as? Refused)?.code.isMultiple(of: 2) == false }
      .manualTime(clock)
    let store = client.store(for: query)
    var (model, now, runs) = (Model(), 0, 0)
    for step in 1...200 {
      switch Int.random(in: 0...9, using: &random) {
      case 0, 1:
        let seconds = [1, 5, 10, 25, 301].randomElement(using: &random) ?? 1
        clock.advance(by: .seconds(seconds))
        now += seconds
      case 2:
        store.currentValue = step
        model = Model(value: (step, now))
      case 3:
        client.invalidate()
        (model.isInvalidated, model.failure) = (true, nil)
      default:
        let expected: Result<Int, Refused>
        if let answer = model.answer(at: now) {
          expected = answer
        } else {
          runs += 1
          if Int.random(in: 0...4, using: &random) == 0 {
            script.enqueue(.value(step))
            model = Model(value: (step, now))
            expected = .success(step)
          } else {
            script.enqueue(.error(Refused(code: step)))
            model.failure = (step, now)
            expected = model.served(at: now).map { .success($0) } ?? .failure(Refused(code: step))
          }
        }
        let result = await Task { try await store.fetch() }.result.mapError { $0 as? Refused ?? Refused(code: -1) }
        expect(result, equals: expected, "step \(step) at \(now): \(model)")
      }
      #expect(script.runCount == runs && !store.isLoading)
    }
  }
}

private struct NotFound: Error {}
private struct Rejected: LocalRejection {}
