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
  /// - Parameters:
  ///   - duration: How long a value is fresh, by the ``OperationClock`` of the context.
  ///   - whenNoValue: Whether an operation that never had a value set is stale.
  public func stale(after duration: Duration, whenNoValue: Bool = true) -> ContextModifiedOperation<Self> {
    let freshness = duration.seconds
    return self.staleWhen { state, context in
      guard let date = state.valueLastUpdatedAt else { return whenNoValue }
      return context.date.timeIntervalSince(date) >= freshness
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

extension Duration {
  /// The duration in seconds, as dates count.
  package var seconds: Double {
    let (seconds, attoseconds) = self.components
    return Double(seconds) + Double(attoseconds) * 1e-18
  }
}
