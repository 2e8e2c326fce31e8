/// The rules that decide whether the value of a store is stale.
struct StalenessRules: Sendable {
  private var rules: [any StalenessRule] = []

  mutating func add(_ rule: any StalenessRule) {
    self.rules.append(rule)
  }

  /// Whether the state is stale by any of the rules. Without rules it is always stale.
  func isStale<State: OperationState>(_ state: State, in context: OperationContext) -> Bool {
    self.rules.isEmpty || self.rules.contains { $0.isStale(state, in: context) }
  }
}

protocol StalenessRule: Sendable {
  func isStale(_ state: some OperationState, in context: OperationContext) -> Bool
}

/// A rule that reads a state of one type, which may be the base of the store's state.
struct StatePredicateRule<State: OperationState>: StalenessRule {
  let predicate: @Sendable (State, OperationContext) -> Bool

  func isStale(_ state: some OperationState, in context: OperationContext) -> Bool {
    if let state = state as? State { return self.predicate(state, context) }
    if let layered = state as? any LayeredOperationState { return self.isStale(layered.base, in: context) }
    return false
  }
}

/// A rule that reads only the context.
struct SpecificationRule<Specification: OperationRunSpecification & Sendable>: StalenessRule {
  let specification: Specification

  func isStale(_ state: some OperationState, in context: OperationContext) -> Bool {
    self.specification.isSatisfied(in: context)
  }
}

extension OperationContext {
  var stalenessRules: StalenessRules {
    get { self[StalenessRulesKey.self] }
    set { self[StalenessRulesKey.self] = newValue }
  }

  private enum StalenessRulesKey: Key {
    static let defaultValue = StalenessRules()
  }
}
