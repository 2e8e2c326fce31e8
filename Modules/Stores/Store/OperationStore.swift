public import OperationFoundation
internal import Synchronization

/// Runs an operation and keeps its state, for any number of subscribers and callers.
///
/// Members of the state can be read from the store: `store.isLoading`, `store.error`. Get the shared store of an
/// operation from an ``OperationClient``, or create one with ``detached(query:initialValue:initialContext:)``.
///
/// A store can be used from any thread. When its last reference is released, its subscriptions and controllers end.
@dynamicMemberLookup
public final class OperationStore<State: OperationState & Sendable>: Sendable, OperationPathable {
  @usableFromInline package let runtime: StoreRuntime

  @inlinable
  convenience init<Operation: StatefulOperationRequest>(
    operation: Operation,
    initialState: Operation.State,
    initialContext: OperationContext
  ) where Operation.State == State {
    var context = initialContext
    context.leaveRun()
    context.forgetSetUp()
    context.applyPathDefaults()
    let box = context.setUpBox(for: operation)
    self.init(operation: box, state: initialState, context: context)
  }

  @usableFromInline
  init(operation: OperationBox, state: State, context: OperationContext) {
    self.runtime = StoreRuntime(operation: operation, state: state.stored, context: context)
    self.runtime.links.reference = StoreReference(to: self, with: self.runtime)
    self.runtime.attachConfiguration(of: context, for: State.self)
  }

  /// Creates another store with the runtime of a store that no longer exists: see ``StoreRuntime/makeStandIn()``.
  init(runtime: StoreRuntime) {
    self.runtime = runtime
  }

  deinit {
    if self.runtime.markClosed() { self.runtime.close() }
    if self.runtime.wasInClient { self.runtime.leaveClient() }
  }
}

extension OperationStore {
  /// Creates a store of a query that belongs to no client, with an initial value of a known age.
  ///
  /// - Parameters:
  ///   - query: The query. Its `setup` is called once, by this method.
  ///   - initialValue: The value before the first run.
  ///   - date: When the value was fetched, from which staleness rules count its age.
  ///   - initialContext: The context that `setup` receives.
  /// - Returns: The store.
  public static func detached<Query: QueryRequest>(
    query: Query,
    initialValue: Query.Value,
    updatedAt date: Date,
    initialContext: OperationContext = OperationContext()
  ) -> OperationStore where State == QueryState<Query.Value, Query.Failure> {
    OperationStore(
      operation: query,
      initialState: QueryState(initialValue: initialValue, updatedAt: date),
      initialContext: initialContext
    )
  }

  /// Creates a store that belongs to no client.
  ///
  /// - Parameters:
  ///   - operation: The operation. Its `setup` is called once, by this method.
  ///   - initialState: The state before the first run.
  ///   - initialContext: The context that `setup` receives.
  /// - Returns: The store.
  @inlinable
  public static func detached<Operation: StatefulOperationRequest & Sendable>(
    operation: Operation,
    initialState: Operation.State,
    initialContext: OperationContext = OperationContext()
  ) -> OperationStore where State == Operation.State {
    OperationStore(operation: operation, initialState: initialState, initialContext: initialContext)
  }

  /// Creates a store of an operation with a default value that belongs to no client.
  ///
  /// - Parameters:
  ///   - operation: The operation. Its `setup` is called once, by this method.
  ///   - initialContext: The context that `setup` receives.
  /// - Returns: The store.
  @inlinable
  public static func detached<Operation: DefaultStateRequest>(
    operation: Operation,
    initialContext: OperationContext = OperationContext()
  ) -> OperationStore where State == Operation.State {
    OperationStore(operation: operation, initialState: operation.initialState, initialContext: initialContext)
  }

  /// Creates a store of a query that belongs to no client.
  ///
  /// - Parameters:
  ///   - query: The query. Its `setup` is called once, by this method.
  ///   - initialValue: The value before the first run.
  ///   - initialContext: The context that `setup` receives.
  /// - Returns: The store.
  @inlinable
  public static func detached<Query: QueryRequest>(
    query: Query,
    initialValue: Query.Value? = nil,
    initialContext: OperationContext = OperationContext()
  ) -> OperationStore where State == QueryState<Query.Value, Query.Failure> {
    OperationStore(
      operation: query,
      initialState: QueryState(initialValue: initialValue),
      initialContext: initialContext
    )
  }

  /// Creates a store of a query with a default value that belongs to no client.
  ///
  /// - Parameters:
  ///   - query: The query. Its `setup` is called once, by this method.
  ///   - initialContext: The context that `setup` receives.
  /// - Returns: The store.
  @inlinable
  public static func detached<Query: DefaultStateRequest>(
    query: Query,
    initialContext: OperationContext = OperationContext()
  ) -> OperationStore where State == Query.State, State: QueryStateProtocol {
    OperationStore(operation: query, initialState: query.initialState, initialContext: initialContext)
  }
}

extension OperationStore {
  /// The path of the operation.
  public var path: OperationPath { self.runtime.path }

  /// A weak reference to the store, for observers.
  public var reference: StoreReference { self.runtime.reference }

  /// The context that runs receive.
  ///
  /// Assigning it replaces all entries.
  public var context: OperationContext {
    get { self.runtime.context }
    set { self.runtime.context = newValue }
  }

  /// The current state, with optimistic updates applied.
  public var state: State { self.runtime.shownState.value(as: State.self) }

  /// The state that runs and setters have produced, without the layers of optimistic updates.
  @usableFromInline
  package var stateWithoutLayers: State { self.runtime.stateWithoutLayers.value(as: State.self) }

  /// The current value, with optimistic updates applied.
  ///
  /// The setter notifies the subscribers before it returns. During exclusive access it notifies them when the access
  /// ends. While other events are being delivered, it notifies them after those events.
  ///
  /// - Complexity: The getter is O(1), the setter O(*n*) in the number of subscribers.
  @inlinable
  public var currentValue: State.StateValue {
    get { self.state.currentValue }
    set { self.setResult(to: .success(newValue)) }
  }

  /// The value of a member of the current state.
  public subscript<Member>(dynamicMember keyPath: KeyPath<State, Member>) -> Member {
    self.state[keyPath: keyPath]
  }

  /// Whether the value should be fetched again: after an invalidation, or by a staleness rule.
  ///
  /// Without rules a value is always stale. Optimistic updates are not considered.
  ///
  /// - Complexity: O(*n*) in the number of staleness rules.
  public var isStale: Bool { self.runtime.isStale }

  /// Whether the store may run its operation by itself, for example when a subscriber is added.
  public var isAutomaticRunningEnabled: Bool { self.runtime.isAutomaticRunningEnabled }

  /// The number of subscribers.
  public var subscriberCount: Int { self.runtime.subscriberCount }
}

extension OperationStore {
  /// Sets the value or the error, and notifies the subscribers as the setter of ``currentValue`` does.
  ///
  /// - Parameters:
  ///   - result: The value or error to set.
  ///   - context: The context of the change, whose clock dates it; nil for the context of the store.
  /// - Complexity: O(*n*) in the number of subscribers.
  @inlinable
  public func setResult(to result: Result<State.StateValue, State.Failure>, using context: OperationContext? = nil) {
    self.runtime.setResult(RunOutcome.of(result), using: context)
  }

  /// Resets the state to the initial one and cancels all runs, whose outcomes then do not affect the state.
  ///
  /// - Parameter context: The context of the change; nil for the context of the store.
  /// - Complexity: O(*n*) in the number of subscribers and runs.
  public func resetState(using context: OperationContext? = nil) {
    self.runtime.reset(using: context)
  }

  /// Runs `body` while no other thread can use the store, so that reads and writes in it are one atomic step.
  ///
  /// Calls can be nested. Subscribers are notified of the changes when the outermost call ends.
  ///
  /// - Warning: Waiting in `body` for another thread that uses the store deadlocks. So does entering two stores in
  ///   different orders.
  /// - Parameter body: Called once, on the current thread, with this store.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`.
  public func withExclusiveAccess<R, E: Error>(_ body: (OperationStore<State>) throws(E) -> R) throws(E) -> R {
    try self.runtime.withExclusiveAccess { () throws(E) -> R in try body(self) }
  }
}

// MARK: - Sources

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

// MARK: - Observation

// Members for modules that keep a copy of the state for observers.
extension OperationStore {
  /// The current state, with a number that differs if the value was changed without a change of its count, and the number of
  /// changes of the store: a state with a greater version is a later one.
  public var stateAndUncountedChanges: (state: State, uncountedChanges: UInt64, version: UInt64) {
    let (state, uncountedChanges, version) = self.runtime.stateAndUncountedChanges
    return (state.value(as: State.self), uncountedChanges, version)
  }

  /// Whether the current thread has exclusive access to the store.
  public var isExclusivelyAccessed: Bool { self.runtime.lock.isOwnedByCurrentThread }

  /// Performs an action that may call user code: now, or when the exclusive access of this thread ends.
  public func performAfterExclusiveAccess(_ action: @escaping @Sendable () -> Void) {
    self.runtime.act(action)
  }
}

// MARK: - Description

extension OperationStore: CustomStringConvertible, CustomReflectable {
  /// The path, the state and the number of subscribers in one line.
  public var description: String { self.runtime.summary }

  /// The path, the state and the number of subscribers, for `dump` and debuggers.
  public var customMirror: Mirror {
    let members: KeyValuePairs<String, Any> = [
      "path": self.path, "state": self.state, "subscriberCount": self.subscriberCount,
    ]
    return Mirror(self, children: members, displayStyle: .class)
  }
}

extension OpaqueOperationStore: CustomStringConvertible {
  /// The path, the state and the number of subscribers in one line.
  public var description: String { self.runtime.summary }
}

extension StoreRuntime: SubscriptionSource {
  /// The path, the state and the number of subscribers in one line.
  var summary: String {
    let (state, count) = self.withMachine { ($0.shownState, $0.subscribers.count) }
    return
      "OperationStore(\(ShownText.of(self.path)): \(state.typed.summary), \(count == 1 ? "1 subscriber" : "\(count) subscribers"))"
  }
}
