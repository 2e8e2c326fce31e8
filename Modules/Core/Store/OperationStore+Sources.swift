public import OperationFoundation
internal import Synchronization

// Members for modules with operations that read the values of other stores.

/// Numbers that differ when a store shows another value or another error.
public struct StoreStamp: Hashable, Sendable {
  private let values: Int
  private let errors: Int
  private let others: UncountedChanges
  /// What is known of the shown value.
  public let value: ValueStamp

  fileprivate init<State: OperationState>(of state: State, _ others: UncountedChanges, _ value: ValueStamp) {
    self.values = state.valueUpdateCount
    self.errors = state.errorUpdateCount
    self.others = others
    self.value = value
  }
}

/// The changes of the shown value or error that the counts of the state do not include.
struct UncountedChanges: Hashable, Sendable {
  /// Committed layers and rolled back runs.
  private let values: Int
  private let resets: Int
  /// The number of the last change of the store; 0 without layers. With layers, each change counts as a change of the
  /// value.
  private let layers: UInt64

  fileprivate init(of machine: borrowing StoreMachine) {
    self.values = machine.extras?.content.uncountedChanges ?? 0
    self.resets = machine.extras?.content.resets ?? 0
    self.layers = machine.hasLayers ? machine.version : 0
  }
}

extension StoreRuntime {
  /// Whether an invalidation is unanswered, of the store or of what its value was made of.
  var hasUnansweredInvalidation: Bool {
    let (isInvalidated, state, context) = self.withMachine { ($0.isInvalidated, $0.state.typed, $0.context) }
    return isInvalidated || context.stalenessRules.isInvalidated(state, in: context)
  }
}

extension OperationStore {
  /// The state without and with the optimistic updates; nil while an invalidation is unanswered, of the store or of what its
  /// value was made of.
  public var stateForRead: (state: State, shown: State)? {
    let found = self.runtime.withMachine { $0.isInvalidated ? nil : ($0.state, $0.shownState, $0.context) }
    guard let (stored, shown, context) = found else { return nil }
    let state = stored.value(as: State.self)
    return context.stalenessRules.isInvalidated(state, in: context) ? nil : (state, shown.value(as: State.self))
  }

  /// Until when the value stays fresh if nothing but the time changes, by the clock of the context.
  ///
  /// Nil if it is stale, or if something else than the time decides, such as a `.staleWhen` rule. Its changes, and an
  /// invalidation, are announced to a ``StoreValueObserver``.
  public var freshEnd: Date? {
    let (state, context, isInvalidated) = self.runtime.withMachine { ($0.state, $0.context, $0.isInvalidated) }
    return isInvalidated
      ? nil : context.stalenessRules.freshEnd(of: state.value(as: State.self), state.stamp, in: context)
  }

  /// The current state, with optimistic updates applied, and its stamp.
  public var stateAndStamp: (state: State, stamp: StoreStamp) {
    let (stored, changes, value) = self.runtime.withMachine { ($0.shownState, UncountedChanges(of: $0), $0.shownStamp) }
    let state = stored.value(as: State.self)
    return (state, StoreStamp(of: state, changes, value))
  }

  /// What is known of the value that the store shows. With optimistic updates the value is unconfirmed.
  public var valueStamp: ValueStamp { self.runtime.valueStamp }

  /// The number of the last invalidation of the store; 0 before the first.
  public var lastInvalidation: Int { self.runtime.lastInvalidation.load(ordering: .acquiring) }

  /// Whether the store was invalidated, and its value was not refreshed since.
  public var isInvalidated: Bool { self.runtime.isInvalidated }

  /// Whether the operation has rules for staleness. Without rules its value is always stale, unless a run has named a
  /// period.
  public var hasStalenessRules: Bool { self.context.hasStaleness }

  /// Whether a run has named the period in which the value is fresh.
  public var hasFreshPeriodOfRun: Bool {
    let (state, rules) = self.runtime.withMachine { ($0.state, $0.context.stalenessRules) }
    return state.stamp.freshness != nil || rules.saidPeriod?(state.value(as: State.self)) != nil
  }

  /// Whether the operation may run without a call. False for mutations.
  public var allowsAutomaticRuns: Bool { self.runtime.allowsAutomaticRuns }

  /// Whether a run that refreshes the whole value is under way, or about to start.
  public var isRefreshing: Bool { self.runtime.isRefreshing }

  /// Whether a client keeps the store at its path.
  public var isInClient: Bool { self.runtime.lockedEntry != nil }
}
