import Operation
import OperationTesting
import TestFixtures
import Testing

/// All modifiers of resilience in one chain, around each kind of operation.
@Suite(.bounded, .warningsAreIssues) struct ResilientKindsTests {
  private typealias ListState = QueryState<[Int], any Error>

  private let clock = ManualClock()
  private let script = OperationScript<Int, any Error>()
  private let breaker = CircuitBreaker(minimumRuns: 1, openFor: .constant(.seconds(60)))
  private let limit = ConcurrencyLimit(1)
  private let client = OperationClient(storeCreator: .defaultTesting)

  private var query: some QueryRequest<Int, any Error> {
    self.script.query()
      .timeout(.seconds(20))
      .hedged(after: .seconds(1), maximum: 2)
      .circuitBreaker(self.breaker)
      .limited(by: self.limit, maximumWait: .seconds(30))
      .retry(limit: 3)
      .backoff(.constant(.seconds(5)))
      .retryBudget(RetryBudget())
      .deadline(after: .seconds(100))
      .fallback(0)
      .deduplicated()
      .manualTime(self.clock)
  }

  private var pages: some PaginatedRequest<Int, Int, any Error> {
    ScriptedPages(script: self.script)
      .idempotent()
      .timeout(.seconds(20))
      .hedged(after: .seconds(1), maximum: 2)
      .circuitBreaker(self.breaker)
      .limited(by: self.limit, maximumWait: .seconds(30))
      .retry(limit: 3)
      .retryBudget(RetryBudget())
      .deadline(after: .seconds(100))
      .fallback { error, _ in throw error }
      .deduplicated()
      .manualTime(self.clock)
  }

  private var mutation: some MutationRequest<Int, Int, any Error> {
    ScriptedMutation(script: self.script)
      .idempotent()
      .timeout(.seconds(20))
      .circuitBreaker(self.breaker)
      .limited(by: self.limit, maximumWait: .seconds(30))
      .retry(limit: 1)
      .backoff(.constant(.seconds(5)))
      .retryBudget(RetryBudget())
      .deadline(after: .seconds(100))
      .optimistic(on: ["list"], of: ListState.self) { list, number in list?.append(number) }
      .manualTime(self.clock)
  }

  @Test func `A query stays a query, whose callers share one run`() async throws {
    let store = OperationStore.detached(query: self.query)
    let fetches = (1...3).map { _ in Task.immediate { try await store.fetch() } }
    try await self.script.next().succeed(5)
    for fetch in fetches { try await expect(fetch.value, equals: 5) }
    #expect(store.currentValue == 5 && self.script.runCount == 1)
    self.expectNothingLeft()
  }

  @Test func `Pages stay pages`() async throws {
    let store = OperationStore.detached(query: self.pages, initialValue: [])
    for page in 0...1 {
      let fetch = Task.immediate { try await store.fetchNextPage() }
      try await self.script.next().succeed(page * 10)
      try await expect(fetch.value?.id, equals: page)
    }
    expect(store.currentValue.map(\.value), equals: [0, 10])
    self.expectNothingLeft()
  }

  @Test(arguments: [true, false])
  func `An optimistic update stays while a mutation waits for a breaker, and goes if it is rejected`(
    recovers: Bool
  ) async throws {
    let list = self.client.store(for: OperationScript<[Int], any Error>().query(path: ["list"]), initialValue: [1])
    let store = self.client.store(for: self.mutation)
    self.breaker.isolate()
    let call = Task.immediate { try await store.mutate(with: 2) }
    try await self.clock.sleepers(count: 1, .delay)
    #expect(list.currentValue == [1, 2] && self.script.runCount == 0)
    if recovers { self.breaker.reset() }
    self.clock.advance(by: .seconds(5))
    if recovers {
      try await self.script.next().succeed(3)
      try await expect(call.value, equals: 3)
    } else {
      await #expect(throws: CircuitOpen.self) { try await call.value }
    }
    expect(list.currentValue, equals: (recovers ? [1, 2] : [1]))
    // The client drops the store of the mutation later.
    self.expectNothingLeft(timers: 1)
  }

  enum Wait: CaseIterable, Sendable {
    case limit, answer, hedge, backoff, breaker
  }

  @Test(arguments: Wait.allCases)
  func `A run that is cancelled in any of its waits ends, leaves the state alone, and leaves nothing`(
    wait: Wait
  ) async throws {
    let store = OperationStore.detached(query: self.query, initialValue: 7)
    // A hedge needs a permit for each of its runs.
    let permits = wait == .hedge ? 2 : 1
    self.limit.update(permits: permits)
    if wait == .limit { #expect(self.limit.takePermit(in: store.context) != nil) }
    let fetch = Task.immediate { try await store.fetch() }
    switch wait {
    case .limit:
      try await self.clock.sleepers(count: 2)
      expect(self.limit.waitingCount, equals: 1)
    case .answer: _ = try await self.script.next()
    case .hedge:
      _ = try await self.script.next()
      self.clock.advance(by: .seconds(1))
      _ = try await self.script.next()
    case .backoff, .breaker:
      try await self.script.next().fail(Refused())
      try await self.script.next().fail(Refused())
      try await self.clock.sleepers(count: 1, .delay)
      if wait == .breaker {
        self.clock.advance(by: .seconds(5))
        try await self.clock.sleepers(count: 1, .delay)
        // The hint of the breaker, up to a tenth longer.
        let hint = try #require(self.clock.remainingTimes(.delay).first)
        #expect(hint >= .seconds(55) && hint <= .seconds(60))
      }
    }
    fetch.cancel()
    await #expect(throws: (any Error).self) { try await withTimeLimit("the fetch") { try await fetch.value } }
    #expect(store.currentValue == 7 && store.error == nil && !store.isLoading)
    if wait == .limit { self.limit.returnPermit((), after: .unused, in: store.context) }
    // The caller has left before the run has ended, which then returns its permit.
    try await withTimeLimit("the permits") { [limit] in
      for _ in 0..<permits { try await limit.waitForPermit(in: OperationContext(), maximumWait: nil) }
    }
    for _ in 0..<permits { self.limit.returnPermit((), after: .unused, in: OperationContext()) }
    try await self.script.noActiveRuns()
    try await self.clock.noSleepers()
    expect(self.breaker.snapshot().runs, equals: 0)
    self.expectNothingLeft()
  }

  private func expectNothingLeft(timers: Int = 0, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(self.limit.activeCount == 0 && self.limit.waitingCount == 0, sourceLocation: sourceLocation)
    expect(self.clock.sleeperCount(), equals: timers, sourceLocation: sourceLocation)
    expect(self.script.activeRunCount, equals: 0, sourceLocation: sourceLocation)
  }
}

private struct ScriptedPages: PaginatedRequest {
  let script: OperationScript<Int, any Error>
  let initialPageId = 0

  var path: OperationPath { ["pages"] }

  func pageId(after page: Page<Int, Int>, using paging: Paging<Int, Int>, in context: OperationContext) -> Int? {
    page.id + 1
  }

  func fetchPage(
    isolation: isolated (any Actor)?,
    using paging: Paging<Int, Int>,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    try await self.script.run(in: context, with: continuation)
  }
}
