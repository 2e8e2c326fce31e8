public import OperationFoundation

extension OperationContext {
  /// Dates the value that this run returns: for a value that was computed earlier, for example by another process.
  ///
  /// The state of the store then shows that date, and the freshness of the value counts from it. A later call replaces the
  /// date. It has no effect on an error, in a run without a store, or if the setup has not called
  /// ``addEntriesToOutcomes()``.
  ///
  /// - Parameter date: When the value was computed.
  public func dateOutcome(_ date: Date) {
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
