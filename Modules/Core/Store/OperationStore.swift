/// Runs an operation and keeps its state, for any number of subscribers and callers.
///
/// Members of the state can be read from the store: `store.isLoading`, `store.error`. Get the shared store of an
/// operation from an ``OperationClient``, or create one with ``detached(query:initialValue:initialContext:)``.
///
/// A store can be used from any thread. When its last reference is released, its subscriptions and controllers end.
@dynamicMemberLookup
public final class OperationStore<State: OperationState & Sendable>: Sendable, OperationPathable {
  @usableFromInline let runtime: StoreRuntime

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
