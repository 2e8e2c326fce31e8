internal import Synchronization

/// A weak reference to a store. Each store has one, and each access returns the same object.
public final class StoreReference: Sendable {
  private weak let object: (any AnyObject & Sendable)?
  /// Exists as long as the store does, which retains it.
  private unowned let storeRuntime: StoreRuntime

  init(to store: any AnyObject & Sendable, with runtime: StoreRuntime) {
    self.object = store
    self.storeRuntime = runtime
  }

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
    self.object.map { OpaqueOperationStore(store: $0, runtime: self.storeRuntime) }
  }

  /// The number of the store's last invalidation; 0 before the first, and once the store has been released.
  var lastInvalidation: Int { self.runtime?.lastInvalidation.load(ordering: .acquiring) ?? 0 }

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
