import FoundationEssentials
import OperationBackoff
import OperationCore
import OperationRetry
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// What a state tells of the attempts of a retry.
@Suite(.timeLimit(.minutes(10)), .warningsAreIssues) struct RetryAttemptTests {
  private let script = OperationScript<Int, any Error>()
  private let clock = ManualClock(date: Date(timeIntervalSinceReferenceDate: 0))

  private func store(limit: Int = 3) -> OperationStore<QueryState<Int, any Error>> {
    .detached(query: self.script.query().retry(limit: limit).backoff(.linear(.seconds(2))).manualTime(self.clock))
  }

  @Test func `While a retry waits, the state tells the attempt, its failure and when the next begins`() async throws {
    let store = self.store()
    let heard = Mutex<[Int]>([])
    let subscription = store.subscribe(
      with: QueryEventHandler(onAttemptFailed: { attempt, _ in heard.withLock { $0.append(attempt.index) } })
    )
    self.script.enqueue(.error(Failed(number: 1)), .error(Failed(number: 2)))
    let fetch = Task { try await store.fetch() }
    try await self.clock.sleepers(count: 1, .delay)
    #expect(store.attempt?.index == 1)
    #expect(store.attempt?.lastFailure as? Failed == Failed(number: 1))
    #expect(store.attempt?.nextBegins == Date(timeIntervalSinceReferenceDate: 2))
    self.clock.advance(by: .seconds(2))
    try await self.clock.sleepers(count: 1, .delay)
    #expect(store.attempt?.index == 2)
    #expect(store.attempt?.lastFailure as? Failed == Failed(number: 2))
    #expect(store.attempt?.nextBegins == Date(timeIntervalSinceReferenceDate: 6))
    self.clock.advance(by: .seconds(4))
    let run = try await self.script.next()
    #expect(store.attempt?.index == 3)
    #expect(store.attempt?.nextBegins == nil)
    run.succeed(5)
    #expect(try await fetch.value == 5)
    #expect(store.attempt == nil)
    #expect(heard.withLock { $0 } == [1, 2])
    subscription.cancel()
  }

  @Test func `An operation that is never retried has no attempt, in its first attempt neither`() async throws {
    let store = self.store(limit: 0)
    let fetch = Task { try await store.fetch() }
    let run = try await self.script.next()
    #expect(store.attempt == nil)
    run.fail(Failed())
    _ = await fetch.result
    #expect(store.attempt == nil)
  }

  @Test func `Of nested retries the inner one tells its attempts`() async throws {
    let store = OperationStore.detached(
      query: self.script.query().retry(limit: 1).retry(limit: 7).manualTime(self.clock)
    )
    let heard = Mutex<[Int]>([])
    let subscription = store.subscribe(
      with: QueryEventHandler(onAttemptFailed: { attempt, _ in heard.withLock { $0.append(attempt.index) } })
    )
    self.script.enqueue(.error(Failed()), .error(Failed()))
    let fetch = Task { try await store.fetch() }
    try await self.clock.sleepers(count: 1, .delay)
    self.clock.advance(by: .seconds(1))
    _ = await fetch.result
    #expect(heard.withLock { $0 } == [1])
    subscription.cancel()
  }

  @Test func `The retry of an operation that another one's body runs tells nothing to the store of that`() async throws
  {
    let inner = Work<Int, any Error> { _, _ in throw Failed() }.retry(limit: 2)
    let outer = QueryOperation("outer") { context in
      try await inner.run(isolation: nil, in: context, with: .init { _, _ in })
    }
    let store = OperationStore.detached(query: outer.retry(limit: 1).delayer(.noDelay))
    let heard = Mutex<[Int]>([])
    let subscription = store.subscribe(
      with: QueryEventHandler(onAttemptFailed: { attempt, _ in heard.withLock { $0.append(attempt.index) } })
    )
    await #expect(throws: Failed.self) { try await store.fetch() }
    #expect(heard.withLock { $0 } == [1])
    subscription.cancel()
  }

  @Test func `Cancelled between attempts, a run takes its attempt along`() async throws {
    let store = self.store()
    self.script.enqueue(.error(Failed()))
    let fetch = Task { try await store.fetch() }
    try await self.clock.sleepers(count: 1, .delay)
    #expect(store.attempt?.index == 1)
    fetch.cancel()
    await #expect(throws: (any Error).self) { try await fetch.value }
    #expect(store.attempt == nil)
    #expect(!store.isLoading && store.errorUpdateCount == 0)
    try await self.clock.noSleepers()
  }
}
