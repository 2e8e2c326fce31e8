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
  @usableFromInline weak let object: (any AnyObject & Sendable)?

  @inlinable
  init(to store: OperationStore<State>) {
    self.object = store
  }

  /// The store, while somebody holds it.
  @inlinable
  var store: OperationStore<State>? { self.object.map { unsafeDowncast($0, to: OperationStore<State>.self) } }

  @usableFromInline var opaqueStore: OpaqueOperationStore? { self.store.map { OpaqueOperationStore(erasing: $0) } }
}
