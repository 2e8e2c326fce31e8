package import OperationFoundation

extension OperationContext {
  /// Sets the date of the value that this run returns, for a value that another process may have computed earlier.
  ///
  /// It has no effect in a run without a store, or if the setup has not called ``addEntriesToOutcomes()``.
  package func dateOutcome(_ date: Date) {
    self.addToOutcome(date, for: OutcomeDateKey.self)
  }

  /// The date of the value of this run's outcome, if the run has given one.
  var outcomeDate: Date? { self[OutcomeDateKey.self] }

  private enum OutcomeDateKey: Key {
    static let defaultValue: Date? = nil
  }

  /// Whether a restored value is shown as invalidated, because another process may have invalidated it unnoticed.
  package var invalidatesRestoredValues: Bool {
    get { self[InvalidatesRestoredValuesKey.self] }
    set { self[InvalidatesRestoredValuesKey.self] = newValue }
  }

  private enum InvalidatesRestoredValuesKey: Key {
    static let defaultValue = false
  }
}
