import OperationAttempts
import OperationCore
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct RetryBudgetModelTests {
  /// Deposits of a fifth, second by second, as the documentation describes them.
  private struct Model {
    var slices: [Int: Int] = [:]

    func balance(at second: Int) -> Int { (second - 9...second).reduce(0) { $0 + (self.slices[$1] ?? 0) } }

    mutating func take(_ units: Int, from seconds: some Sequence<Int>) -> Int {
      var missing = units
      for second in seconds {
        let taken = min(max(self.slices[second] ?? 0, 0), missing)
        self.slices[second, default: 0] -= taken
        missing -= taken
      }
      return missing
    }
  }

  @Test(arguments: ModelRuns.seeds)
  func `Random runs, withdrawals, rejections and pauses keep to the model`(seed: UInt64) async {
    await ModelRuns.check(80, seed: seed) { Self.failure(of: &$0) }
  }

  /// Runs one schedule. Returns what differs from the model.
  private static func failure(of random: inout SeededGenerator) -> String? {
    let clock = ManualClock()
    var context = OperationContext()
    context.use(clock)
    let budget = RetryBudget(ratio: 0.2, minimumPerSecond: 0)
    var model = Model()
    var second = 0
    var withdrawals: [RetryBudget.Withdrawal] = []
    for step in 0..<Int.random(in: 1...200, using: &random) {
      switch Int.random(in: 0..<20, using: &random) {
      case 0:
        let pause = Int.random(in: 1...4, using: &random)
        second += pause
        clock.advance(by: .seconds(pause))
      case 1..<12:
        budget.addDeposit(in: context)
        model.slices[second, default: 0] += 1
      case 12..<15:
        budget.takeBackDeposit(in: context)
        model.slices[second, default: 0] -= model.take(1, from: (second - 9...second).reversed())
      case 15..<19:
        let isAllowed = model.balance(at: second) >= 5
        if isAllowed { _ = model.take(5, from: second - 9...second) }
        let withdrawal = budget.withdrawal(in: context)
        guard (withdrawal != nil) == isAllowed else { return "step \(step): one attempt more or less" }
        if let withdrawal { withdrawals.append(withdrawal) }
      default:
        guard let withdrawal = withdrawals.popLast() else { continue }
        budget.giveBack(withdrawal, in: context)
        model.slices[second, default: 0] += 5
      }
      let expected = max(model.balance(at: second), 0) / 5
      let available = budget.available(in: context)
      guard available == expected else { return "step \(step): \(available) attempts, not \(expected)" }
    }
    return nil
  }
}
