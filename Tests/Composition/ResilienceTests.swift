import FoundationEssentials
import Operation
import OperationTesting
import TestFixtures
import Testing

/// Timeouts, breakers, limits, hedges and retries around one operation, on manual time.
@Suite(.bounded, .warningsAreIssues) struct ResilienceTests {
  private let clock = ManualClock()
  private let script = OperationScript<Int, any Error>()

  /// The query of the article's timeline, whose breaker needs no other callers to open.
  private func request(
    breaker: CircuitBreaker,
    deadline: Duration
  ) -> OperationStore<QueryState<Int, any Error>> {
    OperationStore.detached(
      query: self.script.query()
        .timeout(.seconds(2))
        .circuitBreaker(breaker)
        .retry(limit: 3)
        .backoff(.exponential(.milliseconds(200)))
        .honoringRetryAfter(jitter: .none)
        .deadline(after: deadline)
        .manualTime(self.clock)
    )
  }

  /// Advances through the first 2.7 s: a timeout, a failure that opens the breaker, and a rejection.
  private func advanceToRejection(_ breaker: CircuitBreaker) async throws {
    let first = try await self.script.next()
    try await self.clock.sleepers(count: 2, .deadline)
    self.clock.advance(by: .seconds(2))
    try await self.clock.sleepers(count: 1, .delay)
    #expect(first.isCancelled && breaker.state == .closed)
    expect(self.clock.remainingTimes(.delay), equals: [.milliseconds(200)])
    self.clock.advance(by: .milliseconds(200))
    let second = try await self.script.next()
    try await self.clock.sleepers(count: 2, .deadline)
    self.clock.advance(by: .milliseconds(100))
    second.fail(Refused())
    try await self.clock.sleepers(count: 1, .delay)
    expect(self.clock.remainingTimes(.delay), equals: [.milliseconds(400)])
    expect(breaker.state, equals: .open(until: self.clock.now().addingTimeInterval(5)))
    self.clock.advance(by: .milliseconds(400))
  }

  @Test func `A request meets a slow, then a failing, then a recovered service`() async throws {
    let breaker = CircuitBreaker(minimumRuns: 2)
    let store = self.request(breaker: breaker, deadline: .seconds(10))
    let task = Task.immediate { try await store.fetch() }
    try await self.advanceToRejection(breaker)
    try await self.clock.sleepers(count: 1, .delay)
    // The hint of the breaker, in place of 800 ms.
    expect(self.clock.remainingTimes(.delay), equals: [.milliseconds(4600)])
    #expect(store.isLoading && store.attempt?.index == 3)
    expect((store.attempt?.lastFailure as? CircuitOpen)?.retryAfter, equals: .milliseconds(4600))
    expect(self.script.runCount, equals: 2)
    self.clock.advance(by: .milliseconds(4600))
    let probe = try await self.script.next()
    expect(breaker.state, equals: .halfOpen)
    try await self.clock.sleepers(count: 2, .deadline)
    self.clock.advance(by: .milliseconds(100))
    probe.succeed(4)
    try await expect(task.value, equals: 4)
    expect(breaker.state, equals: .closed)
    expect(self.clock.elapsed, equals: .milliseconds(7400))
    expect(self.clock.sleeperCount(), equals: 0)
  }

  @Test func `A retry gives up on an open breaker where the deadline is nearer than its hint`() async throws {
    let breaker = CircuitBreaker(minimumRuns: 2)
    let store = self.request(breaker: breaker, deadline: .seconds(5))
    let task = Task.immediate { try await store.fetch() }
    try await self.advanceToRejection(breaker)
    await #expect(throws: CircuitOpen(retryAfter: .milliseconds(4600))) { try await task.value }
    expect(self.clock.elapsed, equals: .milliseconds(2700))
    #expect(self.clock.sleeperCount() == 0 && self.script.runCount == 2)
    #expect(store.error is CircuitOpen)
  }

  @Test func `A retry waits for as long as a full rate limit asks for`() async throws {
    let limit = RateLimit(1, per: .seconds(10))
    let query = self.script.query().limited(by: limit, maximumWait: .zero).retry(limit: 1)
      .backoff(.constant(.seconds(1))).honoringRetryAfter(jitter: .none).manualTime(self.clock)
    let first = Task.immediate { try await OperationStore.detached(query: query).fetch() }
    try await self.script.next().succeed(1)
    try await expect(first.value, equals: 1)
    self.clock.advance(by: .seconds(3))
    let second = Task.immediate { try await OperationStore.detached(query: query).fetch() }
    try await self.clock.sleepers(count: 1, .delay)
    expect(self.clock.remainingTimes(.delay), equals: [.seconds(7)])
    self.clock.advance(by: .seconds(7))
    try await self.script.next().succeed(2)
    try await expect(second.value, equals: 2)
    expect(self.clock.delays, equals: [.seconds(7)])
  }

  @Test func `Hedges and retries draw from one budget`() async throws {
    let budget = RetryBudget(ratio: 0.6, minimumPerSecond: 0)
    let notices = NoticeLog()
    let script = OperationScript<Int, any Error>(default: .error(Refused()))
    script.enqueue((1...4).map { .value($0) })
    let store = OperationStore.detached(
      query: script.query().hedged(after: .seconds(1), maximum: 2, budget: budget)
        .retry(limit: 2).retryBudget(budget).backoff(.noBackoff).manualTime(self.clock)
        .context { $0.operationNoticeObservers.append(notices) }
    )
    for number in 1...4 { try await expect(store.fetch(), equals: number) }
    // Five runs pay for three attempts: a hedge, a retry, and the hedge of that.
    await #expect(throws: Refused.self) { try await store.fetch() }
    expect(script.runCount, equals: 8)
    expect(budget.available(in: store.context), equals: 0)
    expect(notices.names, equals: [.hedgeStarted, .hedgeStarted, .retryOverBudget])
  }
}
