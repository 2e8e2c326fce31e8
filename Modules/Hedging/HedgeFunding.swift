internal import OperationCore

/// What the runs of one hedged run cost.
///
/// A run that was rejected on this side has not reached the service, and costs nothing: of the runs that have, the first
/// one deposits, and each other one withdraws.
struct HedgeFunding {
  private let budget: RetryBudget?
  /// Whether the hedge deposits for the run, and not a modifier outside of it.
  private let deposits: Bool
  private var withdrawals: [RetryBudget.Withdrawal] = []
  /// The number of runs that were not rejected on this side, so far.
  private var runCount = 1

  init(budget: RetryBudget?, hasDeposited: Bool) {
    self.budget = budget
    self.deposits = hasDeposited
  }

  /// Pays for a further run. Returns false if the budget does not allow it.
  mutating func pay(in context: OperationContext) -> Bool {
    defer { self.runCount += 1 }
    guard let budget else { return true }
    if self.runCount == 0 {
      if self.deposits { budget.addDeposit(in: context) }
      return true
    }
    guard let withdrawal = budget.withdrawal(in: context) else {
      self.runCount -= 1
      return false
    }
    self.withdrawals.append(withdrawal)
    return true
  }

  /// Takes back what was paid for a run that was rejected.
  mutating func takeBack(in context: OperationContext) {
    self.runCount -= 1
    guard let budget else { return }
    if let withdrawal = self.withdrawals.popLast() {
      budget.giveBack(withdrawal, in: context)
    } else if self.deposits {
      budget.takeBackDeposit(in: context)
    }
  }
}
