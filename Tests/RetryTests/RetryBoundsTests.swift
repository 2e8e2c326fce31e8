import OperationBackoff
import OperationCore
import OperationRetry
import OperationTesting
import Synchronization
import TestFixtures
import Testing

@Suite(.timeLimit(.minutes(10)), .warningsAreIssues) struct RetryBudgetModifierTests {
  private let attempts = Attempts()

  @Test(arguments: [(0.6, 5, 3), (0.2, 10, 2), (1.0 / 3, 9, 3)])
  func `Operations share a budget, and its share is exact`(ratio: Double, runs: Int, retries: Int) async {
    let clock = ManualClock()
    let budget = RetryBudget(ratio: ratio, minimumPerSecond: 0)
    var context = OperationContext.undelayed
    context.operationDeadlines = clock
    let operation = self.attempts.failing().retry(limit: 1)
    for run in 0..<runs {
      // Inside and outside of the retry, and in the context.
      if run % 2 == 0 {
        _ = try? await operation.retryBudget(budget).runOnce(in: context)
      } else {
        var context = context
        context.operationRetryBudget = budget
        _ = try? await operation.runOnce(in: context)
      }
    }
    #expect(self.attempts.count == runs + retries)
  }

  @Test func `A retry over budget is not made, and the error surfaces`() async throws {
    let notices = Mutex<[OperationNotice.Name]>([])
    let delayer = RecordingDelayer()
    var context = OperationContext()
    context.operationDelayer = delayer
    let operation = self.attempts.failing().retry(limit: 5).retryBudget(RetryBudget(ratio: 2, minimumPerSecond: 0))
      .onNotice { notice, _ in notices.withLock { $0.append(notice.name) } }
    await #expect(throws: Failed(number: 3)) { try await operation.runOnce(in: context) }
    #expect(delayer.delays.count == 2)
    #expect(notices.withLock { $0 } == [.retryOverBudget])
  }

  @Test func `A run deposits once, with two retries around it and in each of its attempts`() async {
    let budget = RetryBudget(ratio: 1, minimumPerSecond: 0)
    let operation = self.attempts.failing().retry(limit: 9).retry(limit: 9).retryBudget(budget)
    await #expect(throws: Failed(number: 2)) { try await operation.runOnce() }
    await #expect(throws: Failed(number: 4)) { try await operation.runBare(in: Self.context(with: budget)) }
  }

  @Test func `A success leaves its deposit`() async throws {
    let budget = RetryBudget(ratio: 1, minimumPerSecond: 0)
    try await self.attempts.failing(times: 0).retry(limit: 1).retryBudget(budget).runOnce()
    #expect(budget.available(in: OperationContext()) == 1)
  }

  private static func context(with budget: RetryBudget) -> OperationContext {
    var context = OperationContext.undelayed
    context.operationRetryBudget = budget
    return context
  }
}

@Suite(.timeLimit(.minutes(10)), .warningsAreIssues) struct RetryDeadlineTests {
  private let attempts = Attempts()
  private let clock = ManualClock()

  private func context(deadlineAfter time: Duration) -> OperationContext {
    var context = OperationContext()
    context.use(self.clock)
    context.operationDeadline = self.clock.instant + time
    context.operationBackoffFunction = .constant(.seconds(4))
    return context
  }

  @Test func `A retry does not sleep past the deadline`() async throws {
    let notices = Mutex<[OperationNotice]>([])
    let operation = self.attempts.failing().retry(limit: 9)
      .onNotice { notice, _ in notices.withLock { $0.append(notice) } }
    let context = self.context(deadlineAfter: .seconds(10))
    let task = Task.immediate { try await operation.runOnce(in: context) }
    for _ in 1...2 {
      try await self.clock.sleepers(count: 1)
      self.clock.advance(by: .seconds(4))
    }
    // Two seconds are left, and a retry would wait for four.
    await #expect(throws: Failed(number: 3)) { try await task.value }
    #expect(self.clock.elapsed == .seconds(8) && self.clock.sleeperCount() == 0)
    #expect(notices.withLock { $0.map(\.name) } == [.retryPastDeadline])
    #expect(notices.withLock { $0.first?.attributes } == ["retry.delay": .duration(.seconds(4))])
  }

  @Test(arguments: [(Duration.seconds(4), 1), (.milliseconds(4001), 2)])
  func `An attempt that could not begin before the deadline is not begun`(time: Duration, count: Int) async throws {
    let context = self.context(deadlineAfter: time)
    let task = Task.immediate { try await self.attempts.failing().retry(limit: 9).runOnce(in: context) }
    if count == 2 {
      try await self.clock.sleepers(count: 1)
      self.clock.advance(by: .seconds(4))
    }
    await #expect(throws: Failed(number: count)) { try await task.value }
  }

  @Test func `A delay that takes longer than it should begins no attempt after the deadline`() async {
    let clock = self.clock
    var context = self.context(deadlineAfter: .seconds(10))
    context.operationDelayer = RecordingDelayer { _ in clock.advance(by: .seconds(10)) }
    await #expect(throws: Failed(number: 1)) { try await self.attempts.failing().retry(limit: 9).runOnce(in: context) }
  }

  @Test func `After the deadline nothing is tried again, even without a delay`() async {
    var context = self.context(deadlineAfter: .zero)
    context.operationBackoffFunction = .noBackoff
    await #expect(throws: Failed(number: 1)) { try await self.attempts.failing().retry(limit: 9).runOnce(in: context) }
  }
}

@Suite(.timeLimit(.minutes(10)), .warningsAreIssues) struct RetryValueTests {
  private let attempts = Attempts()

  /// Returns the number of the attempt.
  private var counting: Work<Int, any Error> { self.attempts.failing(times: 0) }

  @Test func `A value that asks for another attempt gets one`() async throws {
    #expect(try await self.counting.retry(limit: 5, whileValue: { $0 < 3 }).runOnce() == 3)
    #expect(self.attempts.indices == [nil, 0, 1])
  }

  @Test func `The last value is returned when no retries are left`() async throws {
    #expect(try await self.counting.retry(limit: 2, whileValue: { _ in true }).runOnce() == 3)
    #expect(try await self.counting.retry(limit: 0, whileValue: { _ in true }).runOnce() == 4)
  }

  @Test func `The context of the attempt is at hand`() async throws {
    let operation = self.counting.retry(limit: 5, whileValue: { _, context in context.operationRetryIndex != 1 })
    #expect(try await operation.runOnce() == 3)
  }

  @Test func `Failures are retried as well, and share the limit`() async throws {
    let failing = self.attempts.failing(times: 2)
    #expect(try await failing.retry(limit: 3, whileValue: { $0 < 4 }).runOnce() == 4)
    let other = Attempts()
    let mixed = Work<Int, any Error> { context, _ in
      let number = other.note(context)
      if number == 2 { throw Failed(number: number) }
      return number
    }
    await #expect(throws: Failed(number: 2)) { try await mixed.retry(limit: 1, whileValue: { _ in true }).runOnce() }
  }

  @Test func `A cancelled task gets its last value at once`() async throws {
    let clock = ManualClock()
    let operation = self.counting.retry(limit: 5, whileValue: { _ in true }).manualTime(clock)
    let task = Task.immediate { try await OperationRunner(operation: operation).run(isolation: nil) }
    try await clock.sleepers(count: 1)
    task.cancel()
    #expect(try await task.value == 1)
    #expect(clock.sleeperCount() == 0)
  }

  @Test func `A state tells an attempt that has not failed`() async throws {
    let clock = ManualClock()
    let script = OperationScript<Int, any Error>(default: .value(0))
    let query = script.query().retry(limit: 1, whileValue: { $0 == 0 }).backoff(.constant(.seconds(2)))
    let store = OperationStore.detached(query: query.manualTime(clock))
    let fetch = Task { try await store.fetch() }
    try await clock.sleepers(count: 1, .delay)
    #expect(store.attempt?.index == 1 && store.attempt?.lastFailure == nil && store.attempt?.nextBegins != nil)
    clock.advance(by: .seconds(2))
    #expect(try await fetch.value == 0)
    #expect(script.runCount == 2)
  }

  @Test func `The rules of modifiers are kept`() async throws {
    try await checkModifier { $0.retry(limit: 2, whileValue: { _ in false }).delayer(.noDelay) }
    try await checkModifier {
      $0.retry(limit: 2).retryBudget(RetryBudget()).honoringRetryAfter().delayer(.noDelay)
    }
  }
}
