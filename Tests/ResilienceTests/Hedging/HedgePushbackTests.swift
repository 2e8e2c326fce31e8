import OperationCore
import OperationHedging
import OperationRetry
import OperationTesting
import TestFixtures
import Testing

/// Servers that push back, by the rules of gRPC's proposal A6, and runs that were rejected on this side.
@Suite(.bounded, .warningsAreIssues) struct HedgePushbackTests {
  private struct Pushing: RetryPushingBack, RetryHinting, Equatable {
    var retryPushback: RetryPushback?
    var retryAfter: OperationDuration?
  }

  private struct Rejected: LocalRejection, Equatable {}

  private let executor = SteppedExecutor()

  private func begin(_ hedging: Hedging) -> Task<Int, any Error> {
    var context = hedging.context
    context.operationTaskConfiguration.executorPreference = self.executor
    let runner = OperationRunner(operation: hedging.query, initialContext: context)
    let task = Task(executorPreference: self.executor) { try await runner.run(isolation: nil) }
    self.executor.runAll()
    return task
  }

  @Test func `The next run begins when the server wants it, earlier or later than the delay`() async throws {
    for pause in [Duration.milliseconds(20), .seconds(2)] {
      let hedging = Hedging(after: .fixed(.milliseconds(100)))
      let task = self.begin(hedging)
      try await hedging.script.next().fail(Pushing(retryPushback: .after(pause), retryAfter: .seconds(30)))
      self.executor.runAll()
      expect(hedging.clock.remainingTimes(), equals: [pause])
      hedging.clock.advance(by: pause)
      self.executor.runAll()
      try await hedging.script.next().succeed(2)
      self.executor.runAll()
      try await expect(task.value, equals: 2)
    }
  }

  @Test func `A server that wants no further try gets none, and a run under way may still win`() async throws {
    let hedging = Hedging(after: .fixed(.milliseconds(100)), maximum: 5)
    let task = self.begin(hedging)
    let first = try await hedging.script.next()
    hedging.clock.advance(by: .milliseconds(100))
    self.executor.runAll()
    try await hedging.script.next().fail(Pushing(retryPushback: .stop))
    self.executor.runAll()
    expect(hedging.clock.sleeperCount(), equals: 0)
    hedging.clock.advance(by: .seconds(10))
    self.executor.runAll()
    #expect(hedging.script.runCount == 2 && !first.isCancelled)
    first.succeed(1)
    self.executor.runAll()
    try await expect(task.value, equals: 1)
  }

  @Test func `Without a run under way the failure of such a server surfaces at once`() async throws {
    let hedging = Hedging(after: .fixed(.milliseconds(100)), maximum: 5)
    let task = self.begin(hedging)
    try await hedging.script.next().fail(Pushing(retryPushback: .stop))
    self.executor.runAll()
    await #expect(throws: Pushing(retryPushback: .stop)) { try await task.value }
    #expect(hedging.script.runCount == 1 && hedging.clock.sleeperCount() == 0)
  }

  @Test(arguments: [
    (OperationDuration.seconds(3600), OperationDuration.seconds(60)), (.seconds(-1), .zero),
    (Duration(attoseconds: .max), .seconds(60)),
  ])
  func `The time of a server is clamped`(pause: OperationDuration, wait: OperationDuration) async throws {
    let hedging = Hedging(after: .fixed(.milliseconds(100)))
    let task = self.begin(hedging)
    try await hedging.script.next().fail(Pushing(retryPushback: .after(pause)))
    self.executor.runAll()
    hedging.clock.advance(by: wait)
    self.executor.runAll()
    try await hedging.script.next().succeed(2)
    self.executor.runAll()
    try await expect(task.value, equals: 2)
  }

  // MARK: - Budgets

  private func counts(of budget: RetryBudget, _ clock: ManualClock) -> [Int] {
    var context = OperationContext()
    context.use(clock)
    let snapshot = budget.snapshot(in: context)
    return [snapshot.available, snapshot.runs, snapshot.withdrawals]
  }

  @Test func `Runs that were rejected on this side cost nothing`() async throws {
    let budget = RetryBudget(ratio: 2, minimumPerSecond: 0)
    let hedging = Hedging(after: .fixed(.milliseconds(100)), maximum: 4, budget: budget)
    let task = self.begin(hedging)
    for _ in 0..<4 {
      try await hedging.script.next().fail(Rejected())
      self.executor.runAll()
    }
    await #expect(throws: Rejected()) { try await task.value }
    expect(self.counts(of: budget, hedging.clock), equals: [0, 0, 0])
  }

  @Test func `The first run that reaches the service deposits, and the next one withdraws`() async throws {
    let budget = RetryBudget(ratio: 2, minimumPerSecond: 0)
    let hedging = Hedging(after: .fixed(.milliseconds(100)), maximum: 4, budget: budget)
    let task = self.begin(hedging)
    try await hedging.script.next().fail(Rejected())
    self.executor.runAll()
    try await hedging.script.next().fail(Refused())
    self.executor.runAll()
    try await hedging.script.next().fail(Rejected())
    self.executor.runAll()
    try await hedging.script.next().succeed(4)
    self.executor.runAll()
    try await expect(task.value, equals: 4)
    expect(self.counts(of: budget, hedging.clock), equals: [1, 1, 1])
  }

  @Test func `A run that is rejected while it is cancelled gives back what it has cost`() async throws {
    let budget = RetryBudget(ratio: 1, minimumPerSecond: 0)
    let hedging = Hedging(after: .fixed(.milliseconds(100)), budget: budget, endsOnCancellation: false)
    let task = self.begin(hedging)
    let first = try await hedging.script.next()
    hedging.clock.advance(by: .milliseconds(100))
    self.executor.runAll()
    let second = try await hedging.script.next()
    first.succeed(1)
    self.executor.runAll()
    second.fail(Rejected())
    self.executor.runAll()
    try await expect(task.value, equals: 1)
    expect(self.counts(of: budget, hedging.clock), equals: [1, 1, 0])
  }

  @Test(arguments: [true, false])
  func `A retry and a hedge inside of it with one budget deposit once`(isSetUp: Bool) async throws {
    let budget = RetryBudget(ratio: 1, minimumPerSecond: 0)
    let script = OperationScript<Int, any Error>(default: .value(1))
    let query = script.query().hedged(after: .seconds(1), budget: budget).retry(limit: 1)
    var context = OperationContext()
    context.operationRetryBudget = budget
    if isSetUp {
      _ = try await OperationRunner(operation: query, initialContext: context).run(isolation: nil)
    } else {
      try await query.runWithoutSetup(in: context)
    }
    expect(budget.snapshot().runs, equals: 1)
  }

  private enum End {
    case rejected
    case failed
    case succeeded
  }

  /// Runs end one after the other, as failures and rejections start the next one.
  @Test(arguments: 0..<40)
  func `Random ends leave exactly what the runs that began have paid`(seed: Int) async throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let budget = RetryBudget(ratio: 1, minimumPerSecond: 0)
    var (balance, runs, withdrawals) = (0, 0, 0)
    for _ in 0..<30 {
      let ends = (0..<4).map { _ in
        [End.rejected, .rejected, .failed, .failed, .succeeded][Int.random(in: 0..<5, using: &random)]
      }
      let script = OperationScript<Int, any Error>()
      for end in ends {
        switch end {
        case .rejected: script.enqueue(.error(Rejected()))
        case .failed: script.enqueue(.error(Refused()))
        case .succeeded: script.enqueue(.value(1))
        }
      }
      _ = try? await script.query().hedged(after: .seconds(60), maximum: 4, budget: budget).runWithoutSetup()
      var hasBegun = false
      for end in ends {
        if hasBegun, balance == 0 { break }
        if end != .rejected {
          if hasBegun {
            balance -= 1
            withdrawals += 1
          } else {
            balance += 1
            runs += 1
          }
          hasBegun = true
        }
        if end == .succeeded { break }
      }
      let snapshot = budget.snapshot()
      expect([snapshot.available, snapshot.runs, snapshot.withdrawals], equals: [balance, runs, withdrawals])
    }
  }
}
