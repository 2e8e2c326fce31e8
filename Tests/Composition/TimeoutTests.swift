import Operation
import OperationTesting
import OperationTimeout
import TestFixtures
import Testing

/// Timeouts and deadlines inside and outside of other modifiers.
@Suite(.bounded, .warningsAreIssues) struct TimeoutCompositionTests {
  private let clock = ManualClock()
  private let script = OperationScript<Int, any Error>()

  @Test func `Inside of a retry a timeout limits each attempt`() async throws {
    let store = OperationStore.detached(
      query: self.script.query().timeout(.seconds(2)).retry(limit: 1).backoff(.noBackoff).manualTime(self.clock)
    )
    let task = Task.immediate { try await store.fetch() }
    let first = try await self.script.next()
    try await self.clock.sleepers(count: 1, .deadline)
    self.clock.advance(by: .seconds(2))
    let second = try await self.script.next()
    #expect(first.isCancelled && store.attempt?.lastFailure is OperationTimedOut)
    second.succeed(2)
    try await expect(task.value, equals: 2)
    try await self.script.noActiveRuns()
    expect(self.clock.sleeperCount(), equals: 0)
  }

  @Test func `Outside of a retry a timeout limits all attempts and their delays`() async throws {
    let store = OperationStore.detached(
      query: self.script.query().timeout(.seconds(2)).retry(limit: 9).backoff(.constant(.seconds(7)))
        .timeout(.seconds(10)).manualTime(self.clock)
    )
    let task = Task.immediate { try await store.fetch() }
    _ = try await self.script.next()
    try await self.clock.sleepers(count: 2, .deadline)
    self.clock.advance(by: .seconds(2))
    try await self.clock.sleepers(count: 1, .delay)
    self.clock.advance(by: .seconds(7))
    _ = try await self.script.next()
    try await self.clock.sleepers(count: 2, .deadline)
    self.clock.advance(by: .seconds(1))
    await #expect(throws: OperationTimedOut(after: .seconds(10))) { try await task.value }
    try await self.script.noActiveRuns()
    try await self.clock.noSleepers()
  }

  @Test func `A delay ends when the timeout around it does`() async throws {
    let script = OperationScript<Int, any Error>(default: .error(Refused()))
    let store = OperationStore.detached(
      query: script.query().retry(limit: 1).backoff(.constant(.seconds(60))).timeout(.seconds(5))
        .manualTime(self.clock)
    )
    let task = Task.immediate { try await store.fetch() }
    try await self.clock.sleepers(count: 2)
    self.clock.advance(by: .seconds(5))
    await #expect(throws: OperationTimedOut.self) { try await task.value }
    try await self.clock.noSleepers()
    expect(script.runCount, equals: 1)
  }

  @Test func `Within a deadline a retry gives up early`() async throws {
    let script = OperationScript<Int, any Error>(default: .error(Refused()))
    let store = OperationStore.detached(
      query: script.query().retry(limit: 9).backoff(.constant(.seconds(4))).deadline(after: .seconds(10))
        .manualTime(self.clock)
    )
    let task = Task.immediate { try await store.fetch() }
    for _ in 1...2 {
      try await self.clock.sleepers(count: 1, .delay)
      self.clock.advance(by: .seconds(4))
    }
    await #expect(throws: Refused.self) { try await task.value }
    #expect(script.runCount == 3 && self.clock.elapsed == .seconds(8) && self.clock.sleeperCount() == 0)
  }

  @Test func `Outside of a deduplication callers of a store share the timeout of their run`() async throws {
    let store = OperationStore.detached(
      query: self.script.query().deduplicated().timeout(.seconds(2)).manualTime(self.clock)
    )
    let first = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    try await self.clock.sleepers(count: 1)
    let second = Task.immediate { try await store.fetch() }
    self.clock.advance(by: .seconds(2))
    await #expect(throws: OperationTimedOut.self) { try await first.value }
    await #expect(throws: OperationTimedOut.self) { try await second.value }
    try await run.cancelled()
    try await self.script.noActiveRuns()
    expect(self.script.runCount, equals: 1)
  }

  @Test func `Inside of a deduplication callers of a store share the timeout of their run`() async throws {
    let store = OperationStore.detached(
      query: self.script.query().timeout(.seconds(2)).deduplicated().manualTime(self.clock)
    )
    let first = Task.immediate { try await store.fetch() }
    _ = try await self.script.next()
    let second = Task.immediate { try await store.fetch() }
    try await self.clock.sleepers(count: 1)
    self.clock.advance(by: .seconds(2))
    await #expect(throws: OperationTimedOut.self) { try await first.value }
    await #expect(throws: OperationTimedOut.self) { try await second.value }
    #expect(self.script.runCount == 1 && store.errorUpdateCount == 1)
    try await self.script.noActiveRuns()
  }

  @Test func `One caller of a shared run may leave, and the others keep it`() async throws {
    let store = OperationStore.detached(
      query: self.script.query().timeout(.seconds(2)).deduplicated().manualTime(self.clock)
    )
    let first = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    let second = Task.immediate { try await store.fetch() }
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    #expect(!run.isCancelled)
    run.succeed(3)
    try await expect(second.value, equals: 3)
    try await self.clock.noSleepers()
  }

  @Test func `A retry of a run that was abandoned does not see its yields`() async throws {
    let script = OperationScript<Int, any Error>(endsOnCancellation: false)
    let recorder = WarningRecorder()
    try await recorder.recording {
      let store = OperationStore.detached(
        query: script.query().timeout(.seconds(2)).retry(limit: 1).backoff(.noBackoff).manualTime(self.clock)
      )
      let task = Task.immediate { try await store.fetch() }
      let abandoned = try await script.next()
      try await self.clock.sleepers(count: 1, .deadline)
      self.clock.advance(by: .seconds(2))
      let second = try await script.next()
      abandoned.yield(1)
      expect(store.currentValue, equals: nil)
      second.yield(2)
      expect(store.currentValue, equals: 2)
      abandoned.succeed(1)
      second.succeed(3)
      try await expect(task.value, equals: 3)
      try await script.noActiveRuns()
    }
    expect(recorder.warnings.map(\.code), equals: [.abandoned])
  }
}
