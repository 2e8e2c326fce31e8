public import OperationFoundation

/// An ``OperationStore`` with the type of its state erased.
public final class OpaqueOperationStore: Sendable, OperationPathable {
  /// The typed store, an ``OperationStore``.
  public var base: any Sendable { self.store }

  package let store: any AnyObject & Sendable
  package let runtime: StoreRuntime

  /// Creates a reference to a store with its types erased.
  ///
  /// - Parameter store: The store. Both references use the same state, runs and subscribers.
  public init<State: OperationState & Sendable>(erasing store: OperationStore<State>) {
    self.store = store
    self.runtime = store.runtime
  }

  /// The store with its type. It is looked up only when it is needed, because that costs more than making this
  /// reference.
  var typed: any ErasableStore {
    guard let store = self.store as? any ErasableStore else {
      preconditionFailure("An opaque store refers to an OperationStore.")
    }
    return store
  }

  /// Creates a reference to a store with its runtime.
  package init(store: any AnyObject & Sendable, runtime: StoreRuntime) {
    self.store = store
    self.runtime = runtime
  }
}

extension OpaqueOperationStore {
  /// The path of the operation.
  public var path: OperationPath { self.runtime.path }

  /// The name of the operation, for notices.
  public var operationName: String { self.runtime.operation.operationName }

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
  public var state: OpaqueOperationState {
    let state = self.runtime.shownState.typed
    return OpaqueOperationState(state)
  }

  /// The state that runs and setters have produced, without the layers of optimistic updates.
  public var stateWithoutLayers: any OperationState & Sendable { self.runtime.stateWithoutLayers.typed }

  /// What is known of the value that the store shows. With optimistic updates the value is unconfirmed.
  public var valueStamp: ValueStamp { self.runtime.valueStamp }

  /// The current value, with optimistic updates applied.
  public var currentValue: any Sendable { self.state.currentValue }

  /// The value that the state was created with.
  public var initialValue: any Sendable { self.state.initialValue }

  /// How many times the value was set.
  public var valueUpdateCount: Int { self.state.valueUpdateCount }

  /// When the value was last set; nil if it never was.
  public var valueLastUpdatedAt: Date? { self.state.valueLastUpdatedAt }

  /// Whether a run is under way.
  public var isLoading: Bool { self.state.isLoading }

  /// Whether a run is paused: it has begun, and waits until a specification holds.
  public var isPaused: Bool { self.state.isPaused }

  /// The attempt that a run is in; nil when nothing runs, or when nothing in the run tries again.
  public var attempt: OperationAttempt? { self.state.attempt }

  /// The last error; nil if none was set or a value was set after it.
  public var error: (any Error)? { self.state.error }

  /// How many times an error was set.
  public var errorUpdateCount: Int { self.state.errorUpdateCount }

  /// When an error was last set; nil if none was.
  public var errorLastUpdatedAt: Date? { self.state.errorLastUpdatedAt }

  /// The status: idle, loading, or the last result.
  public var status: OperationStatus<any Sendable, any Error> { self.state.status }

  /// Whether the value should be fetched again: see ``OperationStore/isStale``.
  public var isStale: Bool { self.runtime.isStale }

  /// Whether the store was invalidated, and its value was not refreshed since.
  public var isInvalidated: Bool { self.runtime.isInvalidated }

  /// Whether the store may run its operation by itself, for example when a subscriber is added.
  public var isAutomaticRunningEnabled: Bool { self.runtime.isAutomaticRunningEnabled }

  /// Whether the operation may run without a call. False for a mutation.
  public var allowsAutomaticRuns: Bool { self.runtime.allowsAutomaticRuns }

  /// The number of subscribers.
  public var subscriberCount: Int { self.runtime.subscriberCount }
}

extension OpaqueOperationStore {
  /// Sets the value, as ``OperationStore/setResult(to:using:)`` does.
  ///
  /// - Precondition: `value` has the type of the value of the store's state.
  /// - Parameters:
  ///   - value: The value to set.
  ///   - context: The context of the change, whose clock dates it; nil for the context of the store.
  /// - Complexity: O(*n*) in the number of subscribers.
  public func uncheckedSetCurrentValue(_ value: any Sendable, using context: OperationContext? = nil) {
    self.uncheckedSetResult(to: .success(value), using: context)
  }

  /// Sets the value or the error, as ``OperationStore/setResult(to:using:)`` does.
  ///
  /// - Precondition: The value or error has the type that the store's state has for it.
  /// - Parameters:
  ///   - result: The value or error to set.
  ///   - context: The context of the change, whose clock dates it; nil for the context of the store.
  /// - Complexity: O(*n*) in the number of subscribers.
  public func uncheckedSetResult(to result: Result<any Sendable, any Error>, using context: OperationContext? = nil) {
    self.typed.uncheckedSetResult(to: result, using: context)
  }

  /// Resets the state to the initial one and cancels all runs, whose outcomes then do not affect the state.
  ///
  /// - Parameter context: The context of the change; nil for the context of the store.
  /// - Complexity: O(*n*) in the number of subscribers and runs.
  public func resetState(using context: OperationContext? = nil) {
    self.runtime.reset(using: context)
  }

  /// Waits until no run is under way, or the current task is cancelled.
  public func settled() async {
    await self.runtime.settled()
  }

  /// Cancels the runs under way.
  ///
  /// - Returns: A function that waits until the runs have ended, or the current task is cancelled.
  @discardableResult
  public func cancelRuns() -> @Sendable () async -> Void { self.runtime.cancelRuns() }

  /// Runs `body` while no other thread can use the store: see ``OperationStore/withExclusiveAccess(_:)``.
  ///
  /// - Parameter body: Called once, on the current thread, with this store.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`.
  public func withExclusiveAccess<R, E: Error>(_ body: (OpaqueOperationStore) throws(E) -> R) throws(E) -> R {
    try self.runtime.withExclusiveAccess { () throws(E) -> R in try body(self) }
  }

  /// Runs the operation and waits for its value: see ``OperationStore/run(using:handler:)``.
  ///
  /// - Parameters:
  ///   - context: Entries for this run, which take precedence over ``context``.
  ///   - handler: Receives the events of this run only.
  /// - Returns: The value that the run returns.
  /// - Throws: The error of the operation, or `CancellationError`.
  @discardableResult
  public func run(
    using context: OperationContext? = nil,
    handler: OpaqueOperationEventHandler? = nil
  ) async throws -> any Sendable {
    try await self.typed.run(using: context, handler: handler)
  }

  /// Creates a task that runs the operation when the task is run.
  ///
  /// - Parameter context: Entries for this run, which take precedence over ``context``.
  /// - Returns: The task, which has not started.
  public func runTask(using context: OperationContext? = nil) -> OperationTask<any Sendable, any Error> {
    self.typed.erasedTask(using: context)
  }

  /// Fetches the value and waits for it: ``run(using:handler:)`` under the name that queries use.
  ///
  /// - Parameters:
  ///   - context: Entries for this fetch, which take precedence over ``context``.
  ///   - handler: Receives the events of this fetch only.
  /// - Returns: The value that the fetch returns.
  /// - Throws: The error of the query, or `CancellationError`.
  @discardableResult
  public func fetch(
    using context: OperationContext? = nil,
    handler: OpaqueOperationEventHandler? = nil
  ) async throws -> any Sendable {
    try await self.run(using: context, handler: handler)
  }

  /// Creates a task that fetches the value when it is run: ``runTask(using:)`` under the name that queries use.
  ///
  /// - Parameter context: Entries for this fetch, which take precedence over ``context``.
  /// - Returns: The task, which has not started.
  public func fetchTask(using context: OperationContext? = nil) -> OperationTask<any Sendable, any Error> {
    self.runTask(using: context)
  }

  /// Subscribes to the events of the store until the subscription is cancelled or dropped.
  ///
  /// Works like the method of the same name of ``OperationStore``.
  ///
  /// - Parameters:
  ///   - handler: Called in event order with no lock held, on the thread that delivers the event.
  ///   - isolation: The actor of the caller, on which a run that this call starts does not begin.
  /// - Returns: The subscription. Events stop when it is cancelled or dropped.
  public func subscribe(
    with handler: OpaqueOperationEventHandler,
    isolation: (any Actor)? = #isolation
  ) -> OperationSubscription {
    self.typed.subscribe(with: handler, isEnqueued: isolation != nil)
  }

  /// An asynchronous sequence of the current state and all later ones, which ends when the store is released.
  ///
  /// Each access makes a subscriber of its own. A slow reader receives the newest state and misses the earlier ones.
  public var states: AsyncStream<(state: OpaqueOperationState, context: OperationContext)> {
    self.typed.erasedStates
  }
}
