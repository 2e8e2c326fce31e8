public import FoundationEssentials

/// An ``OperationStore`` with the type of its state erased.
public final class OpaqueOperationStore: Sendable, OperationPathable {
  /// The store: an `OperationStore` of some state.
  public var base: any Sendable { self.erased.store }

  let erased: any ErasedStore

  /// Erases the type of a store, which stays one and the same store.
  public init<State: OperationState & Sendable>(erasing store: OperationStore<State>) {
    self.erased = TypedErasedStore(typedStore: store)
  }

  init(erased: any ErasedStore) {
    self.erased = erased
  }
}

extension OpaqueOperationStore {
  /// The path of the operation.
  public var path: OperationPath { self.erased.runtime.path }

  /// The context that runs get.
  public var context: OperationContext {
    get { self.erased.runtime.context }
    set { self.erased.runtime.context = newValue }
  }

  /// The state now.
  public var state: OpaqueOperationState { self.erased.state }

  /// The state as runs and setters have made it, without what is laid over it for a while.
  package var stateWithoutLayers: any OperationState & Sendable { self.erased.stateWithoutLayers }

  /// The value now.
  public var currentValue: any Sendable { self.erased.state.currentValue }

  /// The value that the state was made with.
  public var initialValue: any Sendable { self.state.initialValue }

  /// How many times the value was set.
  public var valueUpdateCount: Int { self.state.valueUpdateCount }

  /// When the value was last set.
  public var valueLastUpdatedAt: Date? { self.state.valueLastUpdatedAt }

  /// Whether a run is under way.
  public var isLoading: Bool { self.state.isLoading }

  /// The error that happened last, unless a value was set after it.
  public var error: (any Error)? { self.state.error }

  /// How many times an error was set.
  public var errorUpdateCount: Int { self.state.errorUpdateCount }

  /// When an error was last set.
  public var errorLastUpdatedAt: Date? { self.state.errorLastUpdatedAt }

  /// What happened last.
  public var status: OperationStatus<any Sendable, any Error> { self.state.status }

  /// Whether the value should be fetched again.
  public var isStale: Bool { self.erased.runtime.isStale }

  /// Whether the store may run its operation unasked.
  public var isAutomaticRunningEnabled: Bool { self.erased.runtime.isAutomaticRunningEnabled }

  /// How many subscribers there are.
  public var subscriberCount: Int { self.erased.runtime.subscriberCount }
}

extension OpaqueOperationStore {
  /// Sets the value.
  ///
  /// - Precondition: `value` has the type of the value of the store's state.
  public func uncheckedSetCurrentValue(_ value: any Sendable, using context: OperationContext? = nil) {
    self.uncheckedSetResult(to: .success(value), using: context)
  }

  /// Sets the value or the error.
  ///
  /// - Precondition: The value or error has the type of that of the store's state.
  public func uncheckedSetResult(to result: Result<any Sendable, any Error>, using context: OperationContext? = nil) {
    self.erased.uncheckedSetResult(to: result, using: context)
  }

  /// Goes back to the initial state, and cancels all runs, whose outcomes will not show.
  public func resetState(using context: OperationContext? = nil) {
    self.erased.runtime.reset(using: context)
  }

  /// Keeps every other thread out of the store while `body` runs. It can be nested.
  public func withExclusiveAccess<R, E: Error>(_ body: (OpaqueOperationStore) throws(E) -> R) throws(E) -> R {
    try self.erased.runtime.withExclusiveAccess { () throws(E) -> R in try body(self) }
  }

  /// Runs the operation and waits for its value: see ``OperationStore/run(using:handler:)``.
  @discardableResult
  public func run(
    using context: OperationContext? = nil,
    handler: OpaqueOperationEventHandler? = nil
  ) async throws -> any Sendable {
    try await self.erased.run(using: context, handler: handler)
  }

  /// A task that runs the operation once it is run itself.
  public func runTask(using context: OperationContext? = nil) -> OperationTask<any Sendable, any Error> {
    self.erased.runTask(using: context)
  }

  /// Fetches the value and waits for it: ``run(using:handler:)`` in the words of a query.
  @discardableResult
  public func fetch(
    using context: OperationContext? = nil,
    handler: OpaqueOperationEventHandler? = nil
  ) async throws -> any Sendable {
    try await self.run(using: context, handler: handler)
  }

  /// A task that fetches the value once it is run: ``runTask(using:)`` in the words of a query.
  public func fetchTask(using context: OperationContext? = nil) -> OperationTask<any Sendable, any Error> {
    self.runTask(using: context)
  }

  /// Hears of everything that happens in the store: see ``OperationStore``.
  public func subscribe(
    with handler: OpaqueOperationEventHandler,
    isolation: (any Actor)? = #isolation
  ) -> OperationSubscription {
    self.erased.subscribe(with: handler, isEnqueued: isolation != nil)
  }

  /// The states of the store, the present one first, for as long as the store lives.
  public var states: AsyncStream<(state: OpaqueOperationState, context: OperationContext)> {
    self.erased.states
  }
}
