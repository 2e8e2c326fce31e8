import OperationBackoff
import OperationCore
import OperationRetry
import OperationTesting
import TestFixtures
import Testing

/// Runs whose budget has nothing left when they retry.
@Suite(.bounded, .warningsAreIssues) struct RetryBudgetWaitTests {
  private let clock = ManualClock()
  private let attempts = Counter()

  private var context: OperationContext {
    var context = OperationContext()
    context.use(self.clock)
    context.operationBackoffFunction = .exponential(.seconds(1))
    return context
  }

  /// Runs of a service that is back after a time.
  private func begin(
    _ count: Int,
    backAfter outage: Duration,
    with budget: RetryBudget,
    in context: OperationContext
  ) -> [Task<Duration, any Error>] {
    (0..<count).map { _ in
      let operation = Work<Duration, any Error> { [clock, attempts] _, _ in
        attempts.increment()
        guard clock.elapsed >= outage else { throw Refused() }
        return clock.elapsed
      }
      let runner = OperationRunner(operation: operation.retry(limit: 3).retryBudget(budget), initialContext: context)
      return Task.immediate { try await runner.run(isolation: nil) }
    }
  }

  @Test func `A hundred runs at once survive a server that is away for two and a half seconds`() async throws {
    let tasks = self.begin(100, backAfter: .milliseconds(2_500), with: RetryBudget(), in: self.context)
    try await self.clock.sleepers(count: 100, .delay)
    self.clock.advance(by: .seconds(1))
    try await self.clock.sleepers(count: 100, .delay)
    self.clock.advance(by: .seconds(2))
    // The budget has 40 of the 120 left. Twenty runs wait for what two more seconds bring, and forty for their next backoff.
    try await self.clock.sleepers(count: 60, .delay)
    #expect(self.clock.remainingTimes(.delay)[..<20].elementsEqual((1...20).map { .milliseconds(100 * $0) }))
    self.clock.advance(by: .seconds(4))
    try await self.clock.sleepers(count: 20, .delay)
    expect(self.clock.remainingTimes(.delay).max(), equals: .seconds(2))
    self.clock.advance(by: .seconds(2))
    for task in tasks { #expect(try await task.value <= .seconds(9)) }
    expect(self.attempts.value, equals: 300)
    try await self.clock.noSleepers()
  }

  @Test(arguments: [12, 40]) func `Fewer runs are retried with their usual backoff`(count: Int) async throws {
    let tasks = self.begin(count, backAfter: .milliseconds(2_500), with: RetryBudget(), in: self.context)
    for delay in [1, 2] {
      try await self.clock.sleepers(count: count, .delay)
      self.clock.advance(by: .seconds(delay))
    }
    for task in tasks { try await expect(task.value, equals: .seconds(3)) }
    expect(self.attempts.value, equals: 3 * count)
  }

  @Test func `A retry waits for the budget before it begins, and not longer than its delay`() async throws {
    let budget = RetryBudget(ratio: 0, minimumPerSecond: 1)
    for _ in 0..<10 { #expect(budget.withdraw(in: self.context)) }
    let notices = NoticeLog()
    var context = self.context
    context.operationNoticeObservers = [notices]
    let tasks = self.begin(3, backAfter: .milliseconds(500), with: budget, in: context)
    try await self.clock.sleepers(count: 3, .delay)
    self.clock.advance(by: .seconds(1))
    // One attempt is there, the next comes after a second, and the third after two, which is too long.
    try await self.clock.sleepers(count: 2, .delay)
    expect(self.clock.remainingTimes(.delay).sorted(), equals: [.seconds(1), .seconds(2)])
    expect(notices.all.map(\.name), equals: [.retryOverBudget])
    self.clock.advance(by: .seconds(2))
    for task in tasks { #expect(try await task.value <= .seconds(3)) }
    expect(self.attempts.value, equals: 6)
  }

  @Test func `A run that is cancelled while it waits for the budget leaves it what it has taken`() async throws {
    let budget = RetryBudget(ratio: 0, minimumPerSecond: 1)
    for _ in 0..<10 { #expect(budget.withdraw(in: self.context)) }
    var context = self.context
    context.operationBackoffFunction = .constant(.milliseconds(800))
    let task = try #require(self.begin(1, backAfter: .seconds(60), with: budget, in: context).first)
    try await self.clock.sleepers(count: 1, .delay)
    self.clock.advance(by: .milliseconds(800))
    try await self.clock.sleepers(count: 1, .delay)
    expect(self.clock.remainingTimes(.delay), equals: [.milliseconds(200)])
    task.cancel()
    await #expect(throws: Refused.self) { try await task.value }
    self.clock.advance(by: .milliseconds(200))
    expect(budget.available(in: self.context), equals: 1)
    expect(self.attempts.value, equals: 1)
  }

  @Test func `A budget that comes after the deadline is not waited for`() async throws {
    let budget = RetryBudget(ratio: 0, minimumPerSecond: 1)
    for _ in 0..<10 { #expect(budget.withdraw(in: self.context)) }
    var context = self.context
    context.operationBackoffFunction = .constant(.milliseconds(600))
    context.operationDeadline = self.clock.instant + .milliseconds(900)
    let task = try #require(self.begin(1, backAfter: .seconds(60), with: budget, in: context).first)
    try await self.clock.sleepers(count: 1, .delay)
    self.clock.advance(by: .milliseconds(600))
    await #expect(throws: Refused.self) { try await task.value }
    expect(self.attempts.value, equals: 1)
    expect(budget.snapshot(in: self.context).withdrawals, equals: 10)
  }

  /// A thousand runs a second that all fail, with their backoff, in virtual time.
  @Test func `A storm adds a fifth, and the reserve`() {
    let budget = RetryBudget()
    // When runs retry for the first, the second and the third time. Each list is in the order of its times.
    var times: [[Int]] = [[], [], []]
    var next = [0, 0, 0]
    var made = 0
    var context = OperationContext()
    context.operationDeadlines = self.clock
    for millisecond in 0..<30_000 {
      budget.addDeposit(in: context)
      times[0].append(millisecond + 1_000)
      for index in 0..<3 {
        while next[index] < times[index].count, times[index][next[index]] <= millisecond {
          next[index] += 1
          if budget.withdrawal(within: .seconds(1 << index), in: context) != nil { made += 1 }
          let backoff = 2_000 << index
          if index < 2 { times[index + 1].append(millisecond + backoff) }
        }
      }
      self.clock.advance(by: .milliseconds(1))
    }
    // A fifth of 30,000, the 100 of the start, and ten a second: some retries wait for the reserve of the next four.
    let most = 6_000 + 100 + 340
    #expect((5_500...most).contains(made), "\(made) retries")
  }
}
