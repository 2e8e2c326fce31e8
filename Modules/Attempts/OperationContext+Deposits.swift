public import OperationCore

extension OperationContext {
  /// Whether a modifier of the operation may deposit into a ``RetryBudget``.
  ///
  /// A modifier that calls ``RetryBudget/deposit(for:)`` sets it in its setup. A retry outside of it then records its own
  /// deposit in the context of the run, so that the run deposits once. Without it, the run of a retry keeps its context.
  public var operationDepositsIntoBudgets: Bool {
    get { self.isSet(DepositsKey.self) && self[DepositsKey.self] }
    set { if newValue != self.operationDepositsIntoBudgets { self[DepositsKey.self] = newValue } }
  }

  private enum DepositsKey: Key {
    static let defaultValue = false
  }
}
