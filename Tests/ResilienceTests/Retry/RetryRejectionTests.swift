import OperationBackoff
import OperationCore
import OperationRetry
import OperationTesting
import TestFixtures
import Testing

/// A rejection before the body, as an open breaker's.
private struct Rejected: LocalRejection, RetryHinting, Hashable {
  var retryAfter: OperationDuration?
}

/// What the attempts of one run end with, in order.
private enum End {
  case rejected
  case failed
  case succeeded
}

/// Attempts that have not reached the server count nowhere in the budget: rule 15 of the design.
@Suite(.bounded, .warningsAreIssues) struct RetryRejectionTests {
  /// Runs an operation once, and returns the number of its attempts.
  @discardableResult
  private func run(
    _ ends: [End],
    limit: Int = 9,
    budget: RetryBudget,
    isSetUp: Bool = true,
    configure: @escaping @Sendable (inout OperationContext) -> Void = { _ in }
  ) async -> Int {
    let count = Log<Int>()
    let work = Work<Int, any Error>(configure: configure) { _, _ in
      let number = count.append(1)
      switch number <= ends.count ? ends[number - 1] : .succeeded {
      case .rejected: throw Rejected()
      case .failed: throw Refused(code: number)
      case .succeeded: return number
      }
    }
    let operation = work.retry(limit: limit).retryBudget(budget)
    if isSetUp {
      _ = try? await operation.runOnce()
    } else {
      var context = OperationContext.withoutDelays
      context.operationRetryBudget = budget
      _ = try? await work.retry(limit: limit).runWithoutSetup(in: context)
    }
    return count.count
  }

  private func counts(of budget: RetryBudget) -> [Int] {
    let snapshot = budget.snapshot()
    return [snapshot.available, snapshot.runs, snapshot.withdrawals, snapshot.refusals]
  }

  @Test(arguments: [true, false])
  func `A run that is always rejected neither deposits nor withdraws`(isSetUp: Bool) async {
    let budget = RetryBudget(ratio: 1, minimumPerSecond: 0)
    let count = await self.run(Array(repeating: .rejected, count: 9), limit: 4, budget: budget, isSetUp: isSetUp)
    expect(count, equals: 5)
    expect(self.counts(of: budget), equals: [0, 0, 0, 0])
  }

  @Test(arguments: [true, false])
  func `The first attempt that reaches the server is no retry of it, and deposits`(isSetUp: Bool) async {
    let budget = RetryBudget(ratio: 1, minimumPerSecond: 0)
    let count = await self.run([.rejected, .rejected, .succeeded], budget: budget, isSetUp: isSetUp)
    expect(count, equals: 3)
    expect(self.counts(of: budget), equals: [1, 1, 0, 0])
  }

  @Test(arguments: [true, false])
  func `A retry that is rejected gives back what it has withdrawn`(isSetUp: Bool) async {
    let budget = RetryBudget(ratio: 1, minimumPerSecond: 0)
    let count = await self.run(
      [.failed, .rejected, .rejected, .failed, .succeeded],
      budget: budget,
      isSetUp: isSetUp
    )
    // The deposit pays for the retry that has reached the server, and not for the next one.
    expect(count, equals: 4)
    expect(self.counts(of: budget), equals: [0, 1, 1, 6])
  }

  @Test func `Rejections do not let others retry more often`() async {
    let budget = RetryBudget(ratio: 0.2, minimumPerSecond: 0)
    for _ in 0..<1_000 { await self.run([.rejected, .rejected], limit: 1, budget: budget) }
    await expect(self.run([.failed], budget: budget), equals: 1)
    expect(self.counts(of: budget), equals: [0, 1, 0, 9])
  }

  @Test func `A setup that writes the limit by hand changes nothing of it`() async {
    let budget = RetryBudget(ratio: 1, minimumPerSecond: 0)
    let count = await self.run([.rejected, .failed, .rejected, .failed], budget: budget) {
      $0.operationMaxRetries = 3
      $0.operationDepositsIntoBudgets = true
    }
    expect(count, equals: 4)
    expect(self.counts(of: budget), equals: [0, 1, 1, 0])
  }

  @Test func `A retry that is cancelled while it waits gives back what it has withdrawn`() async {
    let budget = RetryBudget(ratio: 1, minimumPerSecond: 0)
    let work = Work<Int, any Error> { _, _ in throw Refused() }
    var context = OperationContext()
    context.operationDelayer = RecordingDelayer { _ in throw CancellationError() }
    await #expect(throws: Refused.self) {
      try await work.retry(limit: 3).retryBudget(budget).runOnce(in: context)
    }
    expect(self.counts(of: budget), equals: [1, 1, 0, 0])
  }

  @Test func `A modifier inside that deposits for the run as well deposits once with the retry`() async throws {
    let budget = RetryBudget(ratio: 1, minimumPerSecond: 0)
    let setUp: @Sendable (inout OperationContext) -> Void = { $0.operationDepositsIntoBudgets = true }
    let work = Work<Int, any Error>(configure: setUp) { context, _ in
      var context = context
      budget.deposit(for: &context)
      return 1
    }
    try await work.retry(limit: 1).retryBudget(budget).runOnce()
    expect(self.counts(of: budget), equals: [1, 1, 0, 0])
  }

  @Test(arguments: 0..<40)
  func `Random rejections leave exactly what the attempts that began have paid`(seed: Int) async {
    var random = SeededGenerator(seed: UInt64(seed))
    let budget = RetryBudget(ratio: 2, minimumPerSecond: 0)
    var (balance, runs, withdrawals) = (0, 0, 0)
    for _ in 0..<50 {
      let ends = (0..<8).map { _ in
        [End.rejected, .rejected, .failed, .failed, .succeeded][Int.random(in: 0..<5, using: &random)]
      }
      await self.run(ends, limit: 5, budget: budget, isSetUp: Bool.random(using: &random))
      // The same run by the rules: the first attempt that begins deposits 2, each later one costs 1.
      var hasBegun = false
      for end in ends.prefix(6) {
        if hasBegun, balance == 0 { break }
        if end != .rejected {
          if hasBegun {
            balance -= 1
            withdrawals += 1
          } else {
            balance += 2
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
