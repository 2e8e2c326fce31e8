internal import FoundationEssentials

extension StatefulOperationRequest {
  /// Calls the value stale when `predicate` holds for the state and context.
  ///
  /// With several rules, one that says so is enough. Without any, a value is always stale.
  public func staleWhen(
    predicate: @escaping @Sendable (State, OperationContext) -> Bool
  ) -> ContextModifiedOperation<Self> {
    self.adding { $0.stalenessRules.add(StatePredicateRule(predicate: predicate)) }
  }

  /// Calls the value stale when `specification` is satisfied.
  public func staleWhen(
    satisfying specification: some OperationRunSpecification & Sendable
  ) -> ContextModifiedOperation<Self> {
    self.adding { $0.stalenessRules.add(SpecificationRule(specification: specification)) }
  }

  /// Calls the value stale from `duration` after it was set.
  ///
  /// A value of several parts is as old as the oldest of them: a list of pages is not made fresh by one page more. A value whose
  /// date is in the future is stale as well: the clock has been put back, so that its age is not known.
  ///
  /// - Parameters:
  ///   - duration: How long a value is fresh, by the ``OperationClock`` of the context. A negative duration is reported, and
  ///     counts as zero.
  ///   - whenNoValue: Whether an operation that never had a value set is stale.
  public func stale(after duration: Duration, whenNoValue: Bool = true) -> ContextModifiedOperation<Self> {
    let freshness = duration.reportedIfNegative(in: "stale(after:)").seconds
    return self.staleWhen { state, context in
      guard let date = state.oldestPartUpdatedAt else { return whenNoValue }
      let age = context.date.timeIntervalSince(date)
      return age < 0 || age >= freshness
    }
  }
}

extension StatefulOperationRequest where State.StateValue: OptionalValue {
  /// Calls the state stale while it holds no value.
  public func staleWhenNoValue() -> ContextModifiedOperation<Self> {
    self.staleWhen { state, _ in state.currentValue.isNil }
  }
}

/// An `Optional`, for rules about missing values.
public protocol OptionalValue {
  /// Whether there is no value.
  var isNil: Bool { get }
}

extension Optional: OptionalValue {
  public var isNil: Bool { self == nil }
}
