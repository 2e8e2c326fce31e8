import OperationBackoff
import OperationCore
import OperationRetry
import OperationTesting
import Synchronization
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct RetryBudgetModifierTests {
  private let attempts = Attempts()

  @Test(arguments: [(0.6, 5, 3), (0.2, 10, 2), (1.0 / 3, 9, 3)])
  func `Operations share a budget, and its share is exact`(ratio: Double, runs: Int, retries: Int) async {
    let clock = ManualClock()
    let budget = RetryBudget(ratio: ratio, minimumPerSecond: 0)
    var context = OperationContext.withoutDelays
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
    expect(self.attempts.count, equals: runs + retries)
  }

  @Test func `Retries over budget are left out, and the error surfaces after the last of them`() async throws {
    let notices = Mutex<[OperationNotice.Name]>([])
    let delayer = RecordingDelayer()
    var context = OperationContext()
    context.operationDelayer = delayer
    let operation = self.attempts.failing().retry(limit: 5).retryBudget(RetryBudget(ratio: 2, minimumPerSecond: 0))
      .onNotice { notice, _ in notices.withLock { $0.append(notice.name) } }
    await #expect(throws: Refused(code: 3)) { try await operation.runOnce(in: context) }
    expect(delayer.delays.count, equals: 5)
    expect(notices.withLock { $0 }, equals: [.retryOverBudget, .retryOverBudget, .retryOverBudget])
  }

  @Test func `A run deposits once, with two retries around it and in each of its attempts`() async {
    let budget = RetryBudget(ratio: 1, minimumPerSecond: 0)
    let operation = self.attempts.failing().retry(limit: 9).retry(limit: 9).retryBudget(budget)
    await #expect(throws: Refused(code: 2)) { try await operation.runOnce() }
    await #expect(throws: Refused(code: 4)) { try await operation.runWithoutSetup(in: Self.context(with: budget)) }
  }

  @Test func `A success leaves its deposit`() async throws {
    let budget = RetryBudget(ratio: 1, minimumPerSecond: 0)
    try await self.attempts.failing(times: 0).retry(limit: 1).retryBudget(budget).runOnce()
    expect(budget.available(in: OperationContext()), equals: 1)
  }

  private static func context(with budget: RetryBudget) -> OperationContext {
    var context = OperationContext.withoutDelays
    context.operationRetryBudget = budget
    return context
  }
}
