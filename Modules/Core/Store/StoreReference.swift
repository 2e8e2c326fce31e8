public import Synchronization

/// A store as the contexts of its runs refer to it: without keeping it, or what works behind it, alive.
@usableFromInline
protocol StoreReference: AnyObject, Sendable {
  /// The store, while somebody holds it.
  var opaqueStore: OpaqueOperationStore? { get }
}

/// A reference to a store of a certain state.
@usableFromInline
final class TypedStoreReference<State: OperationState & Sendable>: StoreReference {
  // Of no certain type, as letting go of what holds a generic type looks that up.
  @usableFromInline let weakStore = Mutex(WeakObject())

  @inlinable
  init() {}

  /// The store, while somebody holds it.
  @inlinable
  var store: OperationStore<State>? {
    get { self.weakStore.withLock { $0.value }.map { unsafeDowncast($0, to: OperationStore<State>.self) } }
    set { self.weakStore.withLock { $0.value = newValue } }
  }

  @usableFromInline var opaqueStore: OpaqueOperationStore? { self.store.map { OpaqueOperationStore(erasing: $0) } }
}

@usableFromInline
struct WeakObject: Sendable {
  @usableFromInline weak var value: (any AnyObject & Sendable)?

  @inlinable
  init() {}
}
