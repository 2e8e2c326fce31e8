/// Runs an operation and keeps its state, for any number of subscribers and callers.
///
/// Members of the state can be read from the store: `store.isLoading`, `store.error`. Make a store with
/// ``detached(query:initialValue:initialContext:)``, or get the one that everybody shares from an ``OperationClient``.
///
/// A store can be used from any thread. When its last reference goes, its subscriptions and controllers end with it.
@dynamicMemberLookup
public final class OperationStore<State: OperationState & Sendable>: Sendable, OperationPathable {
  @usableFromInline let runtime: StoreRuntime<State>

  @inlinable
  init<Operation: StatefulOperationRequest>(
    operation: Operation,
    initialState: Operation.State,
    initialContext: OperationContext
  ) where Operation.State == State {
    var context = initialContext
    context.leaveRun()
    context.forgetProbes()
    let box = context.setUpBox(for: operation)
    self.runtime = StoreRuntime(operation: box, state: initialState, context: context)
    self.runtime.madeReference = TypedStoreReference(to: self)
    self.runtime.attachConfiguration(of: context)
  }

  init(runtime: StoreRuntime<State>) {
    self.runtime = runtime
  }

  deinit {
    if self.runtime.markClosed() { self.runtime.close() }
    if self.runtime.wasInClient { self.runtime.leaveClient() }
  }
}

extension OperationStore {
  /// Creates a store that no client knows.
  ///
  /// - Parameters:
  ///   - operation: The operation; it sets up the context once, now.
  ///   - initialState: The state to begin with.
  ///   - initialContext: The context before the operation sets it up.
  @inlinable
  public static func detached<Operation: StatefulOperationRequest & Sendable>(
    operation: Operation,
    initialState: Operation.State,
    initialContext: OperationContext = OperationContext()
  ) -> OperationStore where State == Operation.State {
    OperationStore(operation: operation, initialState: initialState, initialContext: initialContext)
  }

  /// Creates a store of an operation with a default value, which no client knows.
  @inlinable
  public static func detached<Operation: DefaultStateRequest>(
    operation: Operation,
    initialContext: OperationContext = OperationContext()
  ) -> OperationStore where State == Operation.State {
    OperationStore(operation: operation, initialState: operation.initialState, initialContext: initialContext)
  }

  /// Creates a store of a query, which no client knows.
  ///
  /// - Parameters:
  ///   - query: The query; it sets up the context once, now.
  ///   - initialValue: The value to begin with.
  ///   - initialContext: The context before the query sets it up.
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

  /// Creates a store of a query with a default value, which no client knows.
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
  @inlinable
  public var path: OperationPath { self.runtime.path }

  /// The context that runs get. Assigning it replaces all of it.
  @inlinable
  public var context: OperationContext {
    get { self.runtime.context }
    set { self.runtime.context = newValue }
  }

  /// The state now.
  @inlinable
  public var state: State { self.runtime.state }

  /// The state as runs and setters have made it, without what is laid over it for a while.
  @inlinable
  package var stateWithoutLayers: State { self.runtime.machine.withLock { $0.state } }

  /// The value now. Setting it tells the subscribers before the setter returns.
  @inlinable
  public var currentValue: State.StateValue {
    get { self.runtime.machine.withLock { $0.shownState.currentValue } }
    set { self.setResult(to: .success(newValue)) }
  }

  /// A member of the state.
  @inlinable
  public subscript<Member>(dynamicMember keyPath: KeyPath<State, Member>) -> Member {
    self.runtime.state[keyPath: keyPath]
  }

  /// Whether the value should be fetched again: a staleness rule says so, or the store was invalidated.
  ///
  /// Without rules a value is always stale.
  @inlinable
  public var isStale: Bool { self.runtime.isStale }

  /// Whether the store may run its operation unasked, as when somebody subscribes.
  @inlinable
  public var isAutomaticRunningEnabled: Bool { self.runtime.isAutomaticRunningEnabled }

  /// How many subscribers there are.
  @inlinable
  public var subscriberCount: Int { self.runtime.subscriberCount }
}

extension OperationStore {
  /// Sets the value or the error.
  ///
  /// - Parameters:
  ///   - result: What to set.
  ///   - context: The context of the change; nil for that of the store. Its clock dates the change.
  @inlinable
  public func setResult(to result: Result<State.StateValue, State.Failure>, using context: OperationContext? = nil) {
    self.runtime.setResult(result, using: context)
  }

  /// Goes back to the initial state, and cancels all runs, whose outcomes will not show.
  @inlinable
  public func resetState(using context: OperationContext? = nil) {
    self.runtime.reset(using: context)
  }

  /// Keeps every other thread out of the store while `body` runs, so that a read and a write belong together.
  ///
  /// It can be nested. Subscribers hear of what changed when the outermost access ends. Waiting inside for another thread
  /// that uses the store, or entering two stores in different orders, deadlocks.
  @inlinable
  public func withExclusiveAccess<R, E: Error>(_ body: (OperationStore<State>) throws(E) -> R) throws(E) -> R {
    try self.runtime.withExclusiveAccess { () throws(E) -> R in try body(self) }
  }
}
