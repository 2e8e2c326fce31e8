import OperationCore
import OperationRetry
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// How many attempts reach a service of which a share fails, in virtual time: the table of the article.
@Suite(.bounded, .warningsAreIssues) struct RetryLoadTests {
  /// The attempts for each of 2,000 runs with up to two retries, which come 100 a second.
  private func load(failing share: Double, _ budget: RetryBudget?) async -> Double {
    let (clock, attempts) = (ManualClock(), Counter())
    let generator = Mutex(SeededGenerator(seed: 5))
    var context = OperationContext.withoutDelays
    context.operationDeadlines = clock
    context.operationRetryBudget = budget
    let operation = Work<Int, any Error> { _, _ in
      let number = attempts.increment()
      if generator.withLock({ Double.random(in: 0..<1, using: &$0) }) < share { throw Refused() }
      return number
    }
    let runner = OperationRunner(operation: operation.retry(limit: 2), initialContext: context)
    for _ in 0..<2_000 {
      _ = try? await runner.run()
      clock.advance(by: .milliseconds(10))
    }
    return Double(attempts.value) / 2_000
  }

  @Test(
    arguments: [
      (0.01, [1.01, 1.01, 1.01]), (0.1, [1.12, 1.10, 1.12]), (0.5, [1.79, 1.10, 1.36]),
      (1, [3.00, 1.10, 1.36]),
    ] as [(Double, [Double])]
  )
  func `A budget bounds the load of retries`(share: Double, loads: [Double]) async {
    var measured: [Double] = []
    for budget in [nil, RetryBudget(ratio: 0.1, minimumPerSecond: 0), RetryBudget()] {
      measured.append((await self.load(failing: share, budget) * 100).rounded() / 100)
    }
    expect(measured, equals: loads)
  }
}
