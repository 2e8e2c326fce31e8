internal import Synchronization

/// A weak reference to a store, and what an observer may do with it: nothing once the store is gone.
///
/// Each store has one, and each access returns the same object.
public final class StoreReference: Sendable {
  private weak let object: (any AnyObject & Sendable)?
  /// Exists as long as the store does, which retains it.
  private unowned let storeRuntime: StoreRuntime?

  init(to store: any AnyObject & Sendable, with runtime: StoreRuntime) {
    self.object = store
    self.storeRuntime = runtime
  }

  /// Creates the reference for events of runs outside of stores.
  private init() {
    self.object = nil
    self.storeRuntime = nil
  }

  /// Refers to no store.
  static let none = StoreReference()

  /// The store with its type; nil once it has been released.
  var typedStore: (any AnyObject & Sendable)? { self.object }

  /// The runtime of the store; nil once the store has been released.
  var runtime: StoreRuntime? {
    guard let object = self.object else { return nil }
    return withExtendedLifetime(object) { self.storeRuntime }
  }

  /// The path of the store; empty once the store has been released.
  public var path: OperationPath { self.runtime?.path ?? [] }

  /// The store; nil once it has been released.
  public var store: OpaqueOperationStore? {
    guard let object = self.object, let runtime = self.storeRuntime else { return nil }
    return OpaqueOperationStore(store: object, runtime: runtime)
  }

  /// The name of the operation; empty once the store has been released.
  public var operationName: String { self.runtime?.operationName ?? "" }

  /// The context of the store; an empty one once the store has been released.
  public var context: OperationContext { self.runtime?.context ?? OperationContext() }

  /// The number of subscribers; 0 once the store has been released.
  public var subscriberCount: Int { self.runtime?.subscriberCount ?? 0 }

  /// The state that the store shows; nil once the store has been released.
  public var shownState: ShownState? {
    guard let runtime = self.runtime else { return nil }
    return runtime.withMachine { ShownState($0, [], isInClient: runtime.isKeptByClient) }
  }

  /// Whether a client has the store.
  public var isInClient: Bool { self.runtime?.isKeptByClient ?? false }

  /// Runs the operation again for the subscribers, unless a run refreshes the value already.
  ///
  /// Does nothing without subscribers, and if the operation does not run by itself.
  ///
  /// - Parameter cause: Why it runs.
  public func rerunForSubscribers(because cause: OperationRunCause) {
    guard let runtime = self.runtime, runtime.canYieldRerun else { return }
    runtime.runForSubscribers(mode: .enqueued, origin: RunOrigin(cause))
  }

  /// Runs a stale operation again for the subscribers, after a change that makes success more likely.
  ///
  /// A run that is under way has started before the change. If it fails, the operation runs again.
  ///
  /// - Parameter cause: The change.
  public func rerunForSubscribers(sinceChange cause: OperationRunCause) {
    self.runtime?.rerunSinceChange(cause)
  }

  /// The number of the store's last invalidation; 0 before the first, and once the store has been released.
  ///
  /// No invalidation reaches a store that was removed. Any may have been one of its value, so that the last one of all counts,
  /// unless it runs a mutation, which is not made twice for that.
  var lastInvalidation: Int {
    guard let runtime = self.runtime else { return 0 }
    if runtime.isOver, runtime.operation.allowsAutomaticRuns { return InvalidationNumber.latest }
    return runtime.lastInvalidation.load(ordering: .acquiring)
  }

  /// Whether the store has ever had a subscriber, a handler or an observer.
  // Computed, because a stored flag would make each store of a client 16 bytes larger.
  var hasListeners: Bool { self.runtime?.hasDependents ?? false }

  /// Performs an action in the order of the store's events; at once when the store has been released.
  func performInOrder(_ action: @escaping @Sendable () -> Void) {
    if let runtime = self.runtime { runtime.performInOrder(action) } else { action() }
  }

  /// Shows the progress of a run in the state; does nothing when the store has been released.
  func note(_ progress: RunProgress, of run: OperationTaskIdentifier) {
    self.runtime?.note(progress, of: run)
  }

  /// Returns the name of the task of a run in `context`; nil once the store has been released.
  func taskName(in context: OperationContext) -> String? {
    self.runtime?.operation.storage.taskName(in: context)
  }
}

extension StoreReference: Hashable {
  /// Whether both refer to the same store.
  public static func == (lhs: StoreReference, rhs: StoreReference) -> Bool { lhs === rhs }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(self))
  }
}

extension OperationStore {
  /// Attaches an observer of something else that reruns the store, with less memory than an ``OperationController``.
  ///
  /// - Parameter begin: Begins the observation. It receives the reference to the store. When the store is released, it
  ///   cancels the subscriptions of its controllers, and then the returned one.
  /// - Returns: The store.
  public func watched(by begin: (StoreReference) -> OperationSubscription) -> OperationStore {
    self.runtime.cancelWhenClosed(begin(self.reference))
    return self
  }
}

extension StoreRuntime {
  /// Keeps a subscription and cancels it when the store is released, after the controllers' subscriptions.
  func cancelWhenClosed(_ subscription: OperationSubscription) {
    self.noteDependent()
    self.withMachine { machine in
      machine.controllers = machine.controllers.map { .combined($0, subscription) } ?? subscription
    }
  }
}
