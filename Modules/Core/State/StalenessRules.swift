/// The rules by which a store says that its value should be fetched again.
@usableFromInline
struct StalenessRules: Sendable {
  private var rules: [any StalenessRule] = []

  mutating func add(_ rule: any StalenessRule) {
    self.rules.append(rule)
  }

  /// Whether any rule says that the state is stale. Without rules it always is.
  @usableFromInline
  func isStale<State: OperationState>(_ state: State, in context: OperationContext) -> Bool {
    self.rules.isEmpty || self.rules.contains { $0.isStale(state, in: context) }
  }
}

protocol StalenessRule: Sendable {
  func isStale(_ state: some OperationState, in context: OperationContext) -> Bool
}

/// A rule that looks at a state of one type, also where that is the base of another.
struct StatePredicateRule<State: OperationState>: StalenessRule {
  let predicate: @Sendable (State, OperationContext) -> Bool

  func isStale(_ state: some OperationState, in context: OperationContext) -> Bool {
    if let state = state as? State { return self.predicate(state, context) }
    if let layered = state as? any LayeredOperationState { return self.isStale(layered.base, in: context) }
    return false
  }
}

/// A rule that looks at the context alone.
struct SpecificationRule<Specification: OperationRunSpecification & Sendable>: StalenessRule {
  let specification: Specification

  func isStale(_ state: some OperationState, in context: OperationContext) -> Bool {
    self.specification.isSatisfied(in: context)
  }
}

extension OperationContext {
  @usableFromInline var stalenessRules: StalenessRules {
    get { self[StalenessRulesKey.self] }
    set { self[StalenessRulesKey.self] = newValue }
  }

  private enum StalenessRulesKey: Key {
    static let defaultValue = StalenessRules()
  }
}
