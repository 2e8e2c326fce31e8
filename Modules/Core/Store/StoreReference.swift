internal import Synchronization

/// A store as the contexts of its runs refer to it: without keeping it, or what works behind it, alive.
protocol StoreReference: AnyObject, Sendable {
  /// The store, while somebody holds it.
  var opaqueStore: OpaqueOperationStore? { get }
}

/// A reference to a store of a certain state.
final class TypedStoreReference<State: OperationState & Sendable>: StoreReference {
  private struct WeakStore {
    weak var value: OperationStore<State>?
  }

  private let weakStore = Mutex(WeakStore())

  /// The store, while somebody holds it.
  var store: OperationStore<State>? {
    get { self.weakStore.withLock { $0.value } }
    set { self.weakStore.withLock { $0.value = newValue } }
  }

  var opaqueStore: OpaqueOperationStore? { self.store.map { OpaqueOperationStore(erasing: $0) } }
}
