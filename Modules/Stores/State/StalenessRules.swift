internal import OperationFoundation

/// The rules that decide whether the value of a store is stale.
struct StalenessRules: Sendable {
  private var rules: [any StalenessRule] = []
  /// Returns the fresh period of a value, if a run has named one; nil for other values.
  var saidPeriod: (@Sendable (any OperationState) -> FreshPeriod?)?

  var isEmpty: Bool { self.rules.isEmpty }

  mutating func add(_ rule: any StalenessRule) {
    self.rules.append(rule)
  }

  /// Whether the state is stale: by the stamp of its value, by any of the rules, or without rules by the default of the
  /// context.
  func isStale<State: OperationState>(_ state: State, _ stamp: ValueStamp, in context: OperationContext) -> Bool {
    var isStale = false
    self.visitReasons(of: state, stamp, in: context) { _ in
      isStale = true
      return false
    }
    return isStale
  }

  /// Whether the value is one that was invalidated, by a rule.
  func isInvalidated(_ state: some OperationState, in context: OperationContext) -> Bool {
    self.rules.contains { $0.isInvalidated(state, in: context) }
  }

  /// Whether the state is stale by its stamp or by a rule that `owner` has not added.
  func isStale<State: OperationState>(
    _ state: State,
    _ stamp: ValueStamp,
    besides owner: AnyObject,
    in context: OperationContext
  ) -> Bool {
    if stamp.isNeverFresh { return true }
    return self.rules.contains { $0.owner !== owner && $0.isStale(state, in: context) }
  }

  /// Why a state is stale: all that says so decides from this one list.
  private enum Reason<State: OperationState> {
    /// What the value is.
    case kind(ValueStamp.Kind)
    /// The time is over for which the run has called its value fresh; nil if that has no date.
    case said(FreshPeriod?)
    case rule(any StalenessRule)
    /// By the default of the context; nil without a value of a known age.
    case byDefault(FreshPeriod?)
    /// There is neither a rule nor a default.
    case noRule
  }

  /// Passes on the reasons why the state is stale, until `visit` returns false.
  private func visitReasons<State: OperationState>(
    of state: State,
    _ stamp: ValueStamp,
    in context: OperationContext,
    _ visit: (Reason<State>) -> Bool
  ) {
    if stamp.isNeverFresh, !visit(.kind(stamp.kind)) { return }
    let said = self.saidPeriod(of: state, stamp)
    if let said, !said.contains(context.date), !visit(.said(said)) { return }
    for rule in self.rules where rule.isStale(state, in: context) {
      if !visit(.rule(rule)) { return }
    }
    guard self.rules.isEmpty, said == nil else { return }
    if context.operationStaleAfter == nil {
      _ = visit(.noRule)
      return
    }
    let period = self.defaultPeriod(of: state, in: context)
    if period?.contains(context.date) != true { _ = visit(.byDefault(period)) }
  }

  /// Until when a state stays fresh if nothing but the time changes; nil if it is stale, or if something else decides.
  func freshEnd(of state: some OperationState, _ stamp: ValueStamp, in context: OperationContext) -> Date? {
    if stamp.isNeverFresh || self.saidPeriod != nil || self.rules.isEmpty && stamp.freshness == nil { return nil }
    var end = Date.distantFuture
    if let said = self.saidPeriod(of: state, stamp) {
      guard said.contains(context.date) else { return nil }
      end = said.end
    }
    for rule in self.rules {
      guard rule.dependsOnTimeAlone, !rule.isStale(state, in: context) else { return nil }
      if let period = rule.freshPeriod(of: state, in: context) { end = min(end, period.end) }
    }
    return end
  }

  /// The period for which the run has called its value fresh; nil if it has not.
  private func saidPeriod(of state: some OperationState, _ stamp: ValueStamp) -> FreshPeriod? {
    if let freshness = stamp.freshness, let date = state.oldestPartUpdatedAt {
      return FreshPeriod(start: date, seconds: freshness.seconds)
    }
    return self.saidPeriod?(state)
  }

  /// The period in which a value is fresh if there is no rule; nil if the value is never fresh then.
  private func defaultPeriod<State: OperationState>(of state: State, in context: OperationContext) -> FreshPeriod? {
    guard let duration = context.operationStaleAfter, let date = state.oldestPartUpdatedAt else { return nil }
    return FreshPeriod(start: date, seconds: duration.seconds)
  }

  /// Why the state is stale, and since when: by the first reason in order, and since the earliest date of all of them.
  func finding<State: OperationState>(
    of state: State,
    _ stamp: ValueStamp,
    in context: OperationContext
  ) -> (reason: OperationStaleness.Reason, since: Date?)? {
    var first: OperationStaleness.Reason?
    var earliest: Date?
    let date = context.date
    self.visitReasons(of: state, stamp, in: context) { reason in
      if first == nil { first = self.text(of: reason, state, in: context) }
      let since =
        switch reason {
        case .kind: state.valueLastUpdatedAt
        case .said(let period), .byDefault(let period): period?.end
        case .rule(let rule): rule.freshPeriod(of: state, in: context)?.end
        case .noRule: nil as Date?
        }
      if let since, since <= date { earliest = earliest.map { min($0, since) } ?? since }
      return true
    }
    return first.map { ($0, earliest) }
  }

  private func text<State: OperationState>(
    of reason: Reason<State>,
    _ state: State,
    in context: OperationContext
  ) -> OperationStaleness.Reason {
    switch reason {
    case .kind(let kind):
      .rule(kind == .fallback ? "its value is a fallback" : "its run has yielded its value, and returned none")
    case .said: .rule("the time is over for which its run has called it fresh")
    case .rule(let rule): .rule(rule.reason(for: state, in: context))
    case .byDefault(let period): .rule(period?.reason(at: context.date) ?? state.reasonWithoutFreshPeriod)
    case .noRule: .noRule
    }
  }

  /// Calls `onChange` whenever a condition of a rule may have changed.
  func subscribe(in context: OperationContext, onChange: @escaping @Sendable () -> Void) -> OperationSubscription {
    .combined(self.rules.compactMap { $0.subscribe(in: context, onChange: onChange) })
  }

  /// Of the fresh periods by rules and runs, the one that ends first; nil if there is none.
  func freshPeriod<State: OperationState>(
    of state: State,
    _ stamp: ValueStamp,
    in context: OperationContext
  ) -> FreshPeriod? {
    let said = self.saidPeriod(of: state, stamp)
    if self.rules.isEmpty { return said ?? self.defaultPeriod(of: state, in: context) }
    return (self.rules.map { $0.freshPeriod(of: state, in: context) } + [said]).compactMap(\.self)
      .min { $0.end < $1.end }
  }
}

extension ValueStamp {
  /// Whether the value is stale by what it is, whatever rules say: a partial one, and a fallback without a freshness of
  /// its own.
  var isNeverFresh: Bool { self.kind == .partial || (self.kind == .fallback && self.freshness == nil) }
}

protocol StalenessRule: Sendable {
  /// The object that has added the rule; nil if it need not tell its own rules from others.
  var owner: (any AnyObject & Sendable)? { get }

  func isStale(_ state: some OperationState, in context: OperationContext) -> Bool

  /// Whether a value that is stale by the rule was invalidated, so that it is not young enough for any reader.
  func isInvalidated(_ state: some OperationState, in context: OperationContext) -> Bool

  /// Why a state is stale by this rule, to follow "because".
  func reason(for state: some OperationState, in context: OperationContext) -> String

  /// Whether the rule says the same of one state until its fresh period ends, whatever else changes.
  var dependsOnTimeAlone: Bool { get }

  /// The period in which the value is fresh by this rule; nil if the rule does not know it.
  func freshPeriod(of state: some OperationState, in context: OperationContext) -> FreshPeriod?

  /// Calls `onChange` whenever the result of the rule may have changed for the same state; nil for a rule that cannot
  /// notice.
  func subscribe(in context: OperationContext, onChange: @escaping @Sendable () -> Void) -> OperationSubscription?
}

extension StalenessRule {
  var owner: (any AnyObject & Sendable)? { nil }

  var dependsOnTimeAlone: Bool { false }

  func isInvalidated(_ state: some OperationState, in context: OperationContext) -> Bool { false }

  func freshPeriod(of state: some OperationState, in context: OperationContext) -> FreshPeriod? { nil }

  func subscribe(in context: OperationContext, onChange: @escaping @Sendable () -> Void) -> OperationSubscription? {
    nil
  }
}

/// A rule that reads a state of one type, which may be the base of the store's state.
struct StatePredicateRule<State: OperationState>: StalenessRule {
  /// Whether the predicate reads nothing but the state.
  var dependsOnTimeAlone = false
  let predicate: @Sendable (State, OperationContext) -> Bool

  func isStale(_ state: some OperationState, in context: OperationContext) -> Bool {
    if let state = state as? State { return self.predicate(state, context) }
    if let layered = state as? any LayeredOperationState { return self.isStale(layered.base, in: context) }
    return false
  }

  func reason(for state: some OperationState, in context: OperationContext) -> String {
    "its rule `.staleWhen { … }` says so"
  }
}

/// A rule that reads only the context.
struct SpecificationRule<Specification: OperationRunSpecification & Sendable>: StalenessRule {
  let specification: Specification

  func isStale(_ state: some OperationState, in context: OperationContext) -> Bool {
    self.specification.isSatisfied(in: context)
  }

  func reason(for state: some OperationState, in context: OperationContext) -> String {
    self.specification.waitReason
  }

  func subscribe(in context: OperationContext, onChange: @escaping @Sendable () -> Void) -> OperationSubscription? {
    self.specification.subscribe(in: context, onChange: onChange)
  }
}

/// A rule of a module, which reads a state of any type.
struct AnyStateRule: StalenessRule {
  let reason: String
  let wasInvalidated: @Sendable (any OperationState, OperationContext) -> Bool
  let predicate: @Sendable (any OperationState, OperationContext) -> Bool

  func isStale(_ state: some OperationState, in context: OperationContext) -> Bool { self.predicate(state, context) }

  func isInvalidated(_ state: some OperationState, in context: OperationContext) -> Bool {
    self.wasInvalidated(state, context)
  }

  func reason(for state: some OperationState, in context: OperationContext) -> String { self.reason }
}

extension OperationContext {
  /// Treats the value as stale when `predicate` returns true for the state without layers, and the context.
  ///
  /// With several rules, the value is stale when any of them applies.
  ///
  /// - Parameters:
  ///   - reason: Why the value is then stale, to follow "because".
  ///   - wasInvalidated: Whether the value is stale because of an invalidation. Then it is not young enough for a reader who
  ///     names an age, and is not returned while a run refreshes it.
  ///   - predicate: Whether the value is stale.
  public mutating func addStalenessRule(
    because reason: String,
    wasInvalidated: @escaping @Sendable (any OperationState, OperationContext) -> Bool = { _, _ in false },
    _ predicate: @escaping @Sendable (any OperationState, OperationContext) -> Bool
  ) {
    self.stalenessRules.add(AnyStateRule(reason: reason, wasInvalidated: wasInvalidated, predicate: predicate))
  }

  var stalenessRules: StalenessRules {
    get { self[StalenessRulesKey.self] }
    set { self[StalenessRulesKey.self] = newValue }
  }

  private enum StalenessRulesKey: Key {
    static let defaultValue = StalenessRules()
  }

  /// How long a value is fresh if its operation has no staleness rule, such as `.stale(after:)`; nil by default.
  ///
  /// If it is nil, such a value is always stale. It is a default for many operations: see
  /// ``OperationClient/setDefaults(matching:_:)``. A rule of an operation replaces it. A negative duration is reported
  /// and counts as zero.
  public var operationStaleAfter: Duration? {
    get { self[StaleAfterKey.self] }
    set { self[StaleAfterKey.self] = newValue?.reportedIfNegative(in: "operationStaleAfter") }
  }

  private enum StaleAfterKey: Key {
    static let defaultValue: Duration? = nil
  }

  /// Calls `onChange` whenever a condition that makes a value stale may have changed.
  ///
  /// - Parameter onChange: Called with no lock held.
  /// - Returns: The subscription. A rule that only reads the state announces nothing.
  public func subscribeToStaleness(_ onChange: @escaping @Sendable () -> Void) -> OperationSubscription {
    self.stalenessRules.subscribe(in: self, onChange: onChange)
  }

  /// Whether a rule or a run may name a period in which a value is fresh.
  package var mayNameFreshPeriods: Bool { self.isSet(StalenessRulesKey.self) || self.isSet(StaleAfterKey.self) }

  /// Whether there is a rule by which a value becomes stale, or a run that has named a period.
  var hasStaleness: Bool { !self.stalenessRules.isEmpty || self.operationStaleAfter != nil }
}
