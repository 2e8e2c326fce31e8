/// A store with its runtime, both with the state type erased.
@usableFromInline
struct StoreHandle: Sendable {
  let runtime: StoreRuntime
  @usableFromInline let store: any AnyObject & Sendable

  init(runtime: StoreRuntime, store: any AnyObject & Sendable) {
    self.runtime = runtime
    self.store = store
  }

  @usableFromInline
  init<State>(_ store: OperationStore<State>) {
    self.init(runtime: store.runtime, store: store)
  }

  var opaque: OpaqueOperationStore { OpaqueOperationStore(store: self.store, runtime: self.runtime) }
}
