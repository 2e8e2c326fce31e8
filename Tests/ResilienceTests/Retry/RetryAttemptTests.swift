import FoundationEssentials
import OperationBackoff
import OperationCore
import OperationRetry
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// The attempts of a retry, as a state shows them.
@Suite(.bounded, .warningsAreIssues) struct RetryAttemptTests {
  private let script = OperationScript<Int, any Error>()
  private let clock = ManualClock(date: Date(timeIntervalSinceReferenceDate: 0))

  private func store(limit: Int = 3) -> OperationStore<QueryState<Int, any Error>> {
    .detached(query: self.script.query().retry(limit: limit).backoff(.linear(.seconds(2))).manualTime(self.clock))
  }

  @Test func `While a retry waits, the state shows the attempt, its failure and when the next begins`() async throws {
    let store = self.store()
    let received = Log<Int>()
    let subscription = store.subscribe(
      with: QueryEventHandler(onAttemptFailed: { attempt, _ in received.append(attempt.index) })
    )
    self.script.enqueue(.error(Refused(code: 1)), .error(Refused(code: 2)))
    let fetch = Task { try await store.fetch() }
    try await self.clock.sleepers(count: 1, .delay)
    expect(store.attempt?.index, equals: 1)
    expect(store.attempt?.lastFailure as? Refused, equals: Refused(code: 1))
    expect(store.attempt?.nextBegins, equals: Date(timeIntervalSinceReferenceDate: 2))
    self.clock.advance(by: .seconds(2))
    try await self.clock.sleepers(count: 1, .delay)
    expect(store.attempt?.index, equals: 2)
    expect(store.attempt?.lastFailure as? Refused, equals: Refused(code: 2))
    expect(store.attempt?.nextBegins, equals: Date(timeIntervalSinceReferenceDate: 6))
    self.clock.advance(by: .seconds(4))
    let run = try await self.script.next()
    expect(store.attempt?.index, equals: 3)
    expect(store.attempt?.nextBegins, equals: nil)
    run.succeed(5)
    try await expect(fetch.value, equals: 5)
    #expect(store.attempt == nil)
    expect(received.all, equals: [1, 2])
    subscription.cancel()
  }

  @Test func `An operation that is never retried has no attempt, not even a first one`() async throws {
    let store = self.store(limit: 0)
    let fetch = Task { try await store.fetch() }
    let run = try await self.script.next()
    #expect(store.attempt == nil)
    run.fail(Refused())
    _ = await fetch.result
    #expect(store.attempt == nil)
  }

  @Test func `Of nested retries the inner one reports its attempts`() async throws {
    let store = OperationStore.detached(
      query: self.script.query().retry(limit: 1).retry(limit: 7).manualTime(self.clock)
    )
    let received = Log<Int>()
    let subscription = store.subscribe(
      with: QueryEventHandler(onAttemptFailed: { attempt, _ in received.append(attempt.index) })
    )
    self.script.enqueue(.error(Refused()), .error(Refused()))
    let fetch = Task { try await store.fetch() }
    try await self.clock.sleepers(count: 1, .delay)
    self.clock.advance(by: .seconds(1))
    _ = await fetch.result
    expect(received.all, equals: [1])
    subscription.cancel()
  }

  @Test func `The retry of an operation inside another one's body does not report to the outer store`() async throws {
    let inner = Work<Int, any Error> { _, _ in throw Refused() }.retry(limit: 2)
    let outer = QueryOperation("outer") { context in
      try await inner.run(isolation: nil, in: context, with: .init { _, _ in })
    }
    let store = OperationStore.detached(query: outer.retry(limit: 1).delayer(.noDelay))
    let received = Log<Int>()
    let subscription = store.subscribe(
      with: QueryEventHandler(onAttemptFailed: { attempt, _ in received.append(attempt.index) })
    )
    await #expect(throws: Refused.self) { try await store.fetch() }
    expect(received.all, equals: [1])
    subscription.cancel()
  }

  @Test func `A run that is cancelled between attempts leaves no attempt`() async throws {
    let store = self.store()
    self.script.enqueue(.error(Refused()))
    let fetch = Task { try await store.fetch() }
    try await self.clock.sleepers(count: 1, .delay)
    expect(store.attempt?.index, equals: 1)
    fetch.cancel()
    await #expect(throws: (any Error).self) { try await fetch.value }
    #expect(store.attempt == nil)
    #expect(!store.isLoading && store.errorUpdateCount == 0)
    try await self.clock.noSleepers()
  }
}
