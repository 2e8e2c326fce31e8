internal import Synchronization

/// The reference to a store in the contexts of its runs. It keeps neither the store nor its runtime alive.
@usableFromInline
protocol StoreReference: AnyObject, Sendable {
  /// The store; nil once it has been released.
  var opaqueStore: OpaqueOperationStore? { get }

  /// The number of the store's last invalidation; 0 before the first, and once the store has been released.
  var lastInvalidation: Int { get }

  /// Returns the name of the task of a run in `context`; nil once the store has been released.
  func taskName(in context: OperationContext) -> String?

  /// Whether the store has ever had a subscriber, a handler or an observer.
  var hasListeners: Bool { get }

  /// Performs an action in the order of the store's events; at once when the store has been released.
  func performInOrder(_ action: @escaping @Sendable () -> Void)

  /// Shows the progress of a run in the state; does nothing when the store has been released.
  func note(_ progress: RunProgress, of run: OperationTaskIdentifier)
}

/// A weak reference to a store with a known state type.
@usableFromInline
final class TypedStoreReference<State: OperationState & Sendable>: StoreReference {
  // Not of the generic type: destroying an object with a field of a generic type looks up the type at run time.
  @usableFromInline weak let object: (any AnyObject & Sendable)?

  @inlinable
  init(to store: OperationStore<State>) {
    self.object = store
  }

  /// The store; nil once it has been released.
  @inlinable
  var store: OperationStore<State>? {
    // Not by `map`, which looks up the type of the store, for 900 instructions. A page asks for its store three times.
    guard let object = self.object else { return nil }
    // The object that the reference was made with.
    return unsafeDowncast(object, to: OperationStore<State>.self)
  }

  // Computed: a stored flag would make each store of a client 16 bytes larger.
  @usableFromInline var hasListeners: Bool { self.store?.runtime.hasDependents ?? false }

  @usableFromInline
  func performInOrder(_ action: @escaping @Sendable () -> Void) {
    if let store = self.store { store.runtime.performInOrder(action) } else { action() }
  }

  @usableFromInline
  func note(_ progress: RunProgress, of run: OperationTaskIdentifier) {
    self.store?.runtime.note(progress, of: run)
  }

  @usableFromInline var opaqueStore: OpaqueOperationStore? { self.store.map { OpaqueOperationStore(erasing: $0) } }

  @usableFromInline var lastInvalidation: Int {
    self.store?.runtime.lastInvalidation.load(ordering: .acquiring) ?? 0
  }

  @usableFromInline
  func taskName(in context: OperationContext) -> String? {
    self.store?.runtime.operation.storage.taskName(in: context)
  }
}
