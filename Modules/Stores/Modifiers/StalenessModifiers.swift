internal import OperationFoundation

extension StatefulOperationRequest {
  /// Treats the value as stale when `predicate` returns true for the state and context.
  ///
  /// With several rules, the value is stale when any of them applies. Without rules it is always stale.
  public func staleWhen(
    predicate: @escaping @Sendable (State, OperationContext) -> Bool
  ) -> ContextModifiedOperation<Self> {
    self.adding { $0.stalenessRules.add(StatePredicateRule(predicate: predicate)) }.written(".staleWhen { … }")
  }

  /// Treats the value as stale when `specification` is satisfied.
  public func staleWhen(
    satisfying specification: some OperationRunSpecification & Sendable
  ) -> ContextModifiedOperation<Self> {
    self.adding { $0.stalenessRules.add(SpecificationRule(specification: specification)) }
      .written(".staleWhen(satisfying: \(type(of: specification)))")
  }

  /// Treats the value as stale once `duration` has passed since it was set.
  ///
  /// A value with several parts is as old as its oldest part: loading another page does not make a list of pages fresh.
  /// A value with a date in the future is stale, too: the clock was set back, so the age is unknown.
  ///
  /// - Parameters:
  ///   - duration: How long a value is fresh, by the ``OperationClock`` of the context. A negative duration is reported
  ///     and counts as zero.
  ///   - whenNoValue: Whether the operation is stale before a value is set for the first time.
  /// - Returns: The operation, whose stores check the age of the value.
  public func stale(after duration: Duration, whenNoValue: Bool = true) -> ContextModifiedOperation<Self> {
    let duration = duration.reportedIfNegative(in: "stale(after:)")
    let freshness = duration.seconds
    return self.adding { context in
      context.maximumValueAge = min(context.maximumValueAge ?? duration, duration)
      context.addFreshPeriods(of: State.self, isStaleWithoutValue: whenNoValue, isConstant: true) { state, _ in
        state.oldestPartUpdatedAt.map { FreshPeriod(start: $0, seconds: freshness) }
      }
    }
    .written(".stale(after: \(duration.roundedText)\(whenNoValue ? "" : ", whenNoValue: false"))")
  }
}

extension StatefulOperationRequest {
  /// Treats the state as stale while its value is nil.
  public func staleWhenNoValue<Wrapped>() -> ContextModifiedOperation<Self> where State.StateValue == Wrapped? {
    self.adding { context in
      context.stalenessRules.add(
        StatePredicateRule<State>(dependsOnTimeAlone: true) { state, _ in state.currentValue == nil }
      )
    }
    .written(".staleWhenNoValue()")
  }
}

/// An optional of any type.
protocol OptionalValue {
  var isNil: Bool { get }
}

extension Optional: OptionalValue {
  var isNil: Bool { self == nil }
}
