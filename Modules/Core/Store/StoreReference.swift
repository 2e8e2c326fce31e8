public import Synchronization

/// A store as the contexts of its runs refer to it: without keeping it, or what works behind it, alive.
@usableFromInline
protocol StoreReference: AnyObject, Sendable {
  /// The store, while somebody holds it.
  var opaqueStore: OpaqueOperationStore? { get }

  /// The number of the last invalidation of the store; 0 before the first.
  var lastInvalidation: Int { get }

  /// What the task of a run in `context` is called; nil when the store is gone.
  func taskName(in context: OperationContext) -> String?

  /// Whether anything has ever subscribed to the store's events.
  var hasListeners: Bool { get }

  /// Performs an action between the events of the store, in the order in which they were made; at once when it is gone.
  func performInOrder(_ action: @escaping @Sendable () -> Void)
}

/// A reference to a store of a certain state.
@usableFromInline
final class TypedStoreReference<State: OperationState & Sendable>: StoreReference {
  // Of no certain type, as letting go of what holds a generic type looks that up.
  @usableFromInline weak let object: (any AnyObject & Sendable)?
  /// Set before the first listener is added. Here rather than in the store, as loading a weak reference takes 2 A.
  @usableFromInline let hadListeners = Atomic(false)

  @inlinable
  init(to store: OperationStore<State>) {
    self.object = store
  }

  /// The store, while somebody holds it.
  @inlinable
  var store: OperationStore<State>? { self.object.map { unsafeDowncast($0, to: OperationStore<State>.self) } }

  @inlinable var hasListeners: Bool { self.hadListeners.load(ordering: .acquiring) }

  @usableFromInline
  func performInOrder(_ action: @escaping @Sendable () -> Void) {
    if let store = self.store { store.runtime.performInOrder(action) } else { action() }
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
