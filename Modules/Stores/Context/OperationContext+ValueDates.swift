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

  /// How old a value may be at most that a run takes from elsewhere; nil for any age.
  ///
  /// A caller who names an age sets it for the run. In a store, it is no longer than the time for which a value is
  /// fresh there.
  public var maximumValueAge: Duration? {
    get { self[MaximumValueAgeKey.self] }
    set { self[MaximumValueAgeKey.self] = newValue }
  }

  private enum MaximumValueAgeKey: Key {
    static let defaultValue: Duration? = nil
  }

  /// How old a value may be at most that a caller gets in place of the outcome of a run that fails or takes long; nil, the
  /// default, if callers get none.
  ///
  /// What keeps values for other processes, such as a fleet, keeps them for so long.
  public var maximumStaleValueAge: Duration? {
    get { self[MaximumStaleValueAgeKey.self] }
    set { self[MaximumStaleValueAgeKey.self] = newValue }
  }

  private enum MaximumStaleValueAgeKey: Key {
    static let defaultValue: Duration? = nil
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
