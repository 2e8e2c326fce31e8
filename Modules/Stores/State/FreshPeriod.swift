public import OperationFoundation

/// The period in which a value is fresh.
public struct FreshPeriod: Sendable {
  /// When the value was set.
  public let start: Date
  /// How long it is fresh, in seconds.
  public let seconds: Double

  public init(start: Date, seconds: Double) {
    self.start = start
    self.seconds = seconds
  }

  public var end: Date { self.start.addingTimeInterval(self.seconds) }

  /// The age of the value, in seconds; negative if the clock was set back.
  public func age(at date: Date) -> Double { date.timeIntervalSince(self.start) }

  /// Whether the value is fresh. A value with a date in the future is not: its age is unknown.
  public func contains(_ date: Date) -> Bool {
    let age = self.age(at: date)
    return age >= 0 && age < self.seconds
  }

  /// Why a value is stale at a date that the period does not contain, to follow "because".
  func reason(at date: Date) -> String {
    if self.age(at: date) < 0 { return "its value has a date in the future" }
    let limit = Duration.since(self.start, at: self.end)
    return limit > .zero ? "its value is older than \(limit.roundedText)" : "its value is stale at once"
  }
}

extension OperationState {
  /// Why a state is stale that has no fresh period, to follow "because".
  var reasonWithoutFreshPeriod: String {
    if !self.showsNoValue { return "its value has no date" }
    return self.isDefaultShown ? "it has only its default value" : "it has no value"
  }
}

/// A rule by which a value is stale after some time.
struct AgeRule<State: OperationState>: StalenessRule {
  let owner: (any AnyObject & Sendable)?
  let isStaleWithoutValue: Bool
  /// Whether the period of a state is always the same.
  let dependsOnTimeAlone: Bool
  /// The fresh period of a value; nil if the state has none.
  let period: @Sendable (State, OperationContext) -> FreshPeriod?

  func isStale(_ state: some OperationState, in context: OperationContext) -> Bool {
    if let state = state as? State {
      return self.period(state, context).map { !$0.contains(context.date) } ?? self.isStaleWithoutValue
    }
    if let layered = state as? any LayeredOperationState { return self.isStale(layered.base, in: context) }
    return false
  }

  func reason(for state: some OperationState, in context: OperationContext) -> String {
    self.freshPeriod(of: state, in: context)?.reason(at: context.date) ?? state.reasonWithoutFreshPeriod
  }

  func freshPeriod(of state: some OperationState, in context: OperationContext) -> FreshPeriod? {
    if let state = state as? State { return self.period(state, context) }
    if let layered = state as? any LayeredOperationState { return self.freshPeriod(of: layered.base, in: context) }
    return nil
  }
}

extension OperationContext {
  /// Adds a rule by which values are stale after their fresh period.
  ///
  /// - Parameters:
  ///   - state: The type of the state, which may be the base of the store's state.
  ///   - owner: The object that adds the rule; nil if it need not tell its own rules from others. It is kept alive.
  ///   - isStaleWithoutValue: Whether a state without a period is stale.
  ///   - isConstant: Whether `period` always returns the same for one state. Then readers of many such stores need not ask
  ///     for each of them until the first period ends.
  ///   - period: Returns the fresh period of the value in a state; nil without a value.
  public mutating func addFreshPeriods<State: OperationState>(
    of state: State.Type,
    owner: (any AnyObject & Sendable)? = nil,
    isStaleWithoutValue: Bool = true,
    isConstant: Bool = false,
    _ period: @escaping @Sendable (State, OperationContext) -> FreshPeriod?
  ) {
    self.stalenessRules.add(
      AgeRule(
        owner: owner,
        isStaleWithoutValue: isStaleWithoutValue,
        dependsOnTimeAlone: isConstant,
        period: period
      )
    )
  }

  /// Makes values stale after the fresh periods that runs have named for them.
  ///
  /// Other values are not affected: without rules, they are always stale.
  ///
  /// - Parameter period: Returns the fresh period of the value in a state of the store; nil if no run has named one.
  public mutating func setFreshPeriodsOfRuns(_ period: @escaping @Sendable (any OperationState) -> FreshPeriod?) {
    self.stalenessRules.saidPeriod = period
  }

  /// Whether a state of the store with this context is stale by its rules.
  public func isStale(_ state: any OperationState) -> Bool {
    self.stalenessRules.isStale(state, state.knownStamp, in: self)
  }

  /// Whether a state of the store with this context is stale by a rule that `owner` has not added.
  public func isStale(_ state: any OperationState, besides owner: AnyObject) -> Bool {
    self.stalenessRules.isStale(state, state.knownStamp, besides: owner, in: self)
  }

  /// Of the fresh periods of a state's value, the one that ends first; nil if no rule knows one.
  public func freshPeriod(of state: any OperationState) -> FreshPeriod? {
    self.stalenessRules.freshPeriod(of: state, state.knownStamp, in: self)
  }
}

extension OperationState {
  /// The stamp of the value, where the state has it. A store keeps the stamp beside a state of another module: such a
  /// value counts as the result of a run here.
  fileprivate var knownStamp: ValueStamp { (self as? any StoredState)?.stamp ?? ValueStamp(.final) }
}
