/// The order of the events of the store of a run, for those who tell of more than the store does.
@usableFromInline
package struct StoreEventOrder: Sendable {
  @usableFromInline let store: (any StoreReference)?

  @inlinable
  init(store: (any StoreReference)?) {
    self.store = store
  }

  /// Whether anybody may hear of the events. Where nobody does there is no order to keep to.
  @inlinable
  package var hasListeners: Bool { self.store?.hasListeners ?? false }

  /// Performs an action behind the events that were made so far, and before all that are made later.
  ///
  /// It is performed where events are handed over: on one thread at a time, and while no lock is held.
  @inlinable
  package func perform(_ action: @escaping @Sendable () -> Void) {
    if let store = self.store { store.performInOrder(action) } else { action() }
  }
}

extension OperationContext {
  /// The order of the events of the store that runs the operation with this context.
  @inlinable
  package var storeEventOrder: StoreEventOrder { StoreEventOrder(store: self.run.store) }
}

extension OperationStore {
  /// Performs an action behind the events that were made so far, and before all that are made later.
  @inlinable
  package func performInEventOrder(_ action: @escaping @Sendable () -> Void) {
    self.runtime.performInOrder(action)
  }
}
