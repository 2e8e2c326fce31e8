internal import OperationCore

/// The budget of one run.
struct RetryFunding: Sendable {
  let budget: RetryBudget
  /// Whether this retry has deposited for the run, and not a modifier outside of it.
  let isOurs: Bool

  /// Takes the deposit back, because the attempts so far have not begun.
  func takeBackDeposit(in context: OperationContext) {
    if self.isOurs { self.budget.takeBackDeposit(in: context) }
  }
}

/// What one attempt other than the first costs.
///
/// An attempt after others that were all rejected on this side is the first one that reaches the service. It costs
/// nothing, and its run deposits anew.
struct RetryPayment: Sendable {
  /// Nil without a budget.
  let funding: RetryFunding?
  /// Nil for an attempt that costs nothing.
  let withdrawal: RetryBudget.Withdrawal?

  /// How long the attempt waits until the budget covers it.
  var wait: Duration { self.withdrawal?.wait ?? .zero }

  /// Deposits for a run whose first attempt begins.
  func begin(in context: OperationContext) {
    guard let funding, funding.isOurs, self.withdrawal == nil else { return }
    funding.budget.addDeposit(in: context)
  }

  /// Gives back what was withdrawn for an attempt that is not made.
  func cancel(in context: OperationContext) {
    if let funding, let withdrawal { funding.budget.giveBack(withdrawal, in: context) }
  }

  /// Takes back what ``begin(in:)`` has done, because the attempt was rejected on this side.
  func takeBack(in context: OperationContext) {
    if self.withdrawal == nil { self.funding?.takeBackDeposit(in: context) } else { self.cancel(in: context) }
  }
}
