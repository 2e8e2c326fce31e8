import OperationBackoff
import OperationCore
import OperationRetry
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct RetryValueTests {
  private let attempts = Attempts()

  /// Returns the number of the attempt.
  private var counting: Work<Int, any Error> { self.attempts.failing(times: 0) }

  @Test func `A value that asks for another attempt gets one`() async throws {
    try await expect(self.counting.retryOnValue(limit: 5, where: { $0 < 3 }).runOnce(), equals: 3)
    expect(self.attempts.indices, equals: [nil, 0, 1])
  }

  @Test func `The last value is returned when no retries are left`() async throws {
    try await expect(self.counting.retryOnValue(limit: 2, where: { _ in true }).runOnce(), equals: 3)
    try await expect(self.counting.retryOnValue(limit: 0, where: { _ in true }).runOnce(), equals: 4)
  }

  @Test func `The closure receives the context of the attempt`() async throws {
    let operation = self.counting.retryOnValue(limit: 5, where: { _, context in context.operationRetryIndex != 1 })
    try await expect(operation.runOnce(), equals: 3)
  }

  @Test func `Failures are retried as well, and share the limit`() async throws {
    let failing = self.attempts.failing(times: 2)
    try await expect(failing.retryOnValue(limit: 3, where: { $0 < 4 }).runOnce(), equals: 4)
    let other = Attempts()
    let mixed = Work<Int, any Error> { context, _ in
      let number = other.note(context)
      if number == 2 { throw Refused(code: number) }
      return number
    }
    await #expect(throws: Refused(code: 2)) { try await mixed.retryOnValue(limit: 1, where: { _ in true }).runOnce() }
  }

  @Test func `A cancelled task gets its last value at once`() async throws {
    let clock = ManualClock()
    let operation = self.counting.retryOnValue(limit: 5, where: { _ in true }).manualTime(clock)
    let task = Task.immediate { try await OperationRunner(operation: operation).run(isolation: nil) }
    try await clock.sleepers(count: 1)
    task.cancel()
    try await expect(task.value, equals: 1)
    expect(clock.sleeperCount(), equals: 0)
  }

  @Test func `A state shows an attempt that has not failed`() async throws {
    let clock = ManualClock()
    let script = OperationScript<Int, any Error>(default: .value(0))
    let query = script.query().retryOnValue(limit: 1, where: { $0 == 0 }).backoff(.constant(.seconds(2)))
    let store = OperationStore.detached(query: query.manualTime(clock))
    let fetch = Task { try await store.fetch() }
    try await clock.sleepers(count: 1, .delay)
    #expect(store.attempt?.index == 1 && store.attempt?.lastFailure == nil && store.attempt?.nextBegins != nil)
    clock.advance(by: .seconds(2))
    try await expect(fetch.value, equals: 0)
    expect(script.runCount, equals: 2)
  }

  @Test func `The rules of modifiers are kept`() async throws {
    try await checkModifier { $0.retryOnValue(limit: 2, where: { _ in false }).delayer(.noDelay) }
    try await checkModifier {
      $0.retry(limit: 2).retryBudget(RetryBudget()).honoringRetryAfter().delayer(.noDelay)
    }
  }
}
