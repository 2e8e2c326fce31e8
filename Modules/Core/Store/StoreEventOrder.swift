/// The event order of the store that runs an operation, for modules that report events of their own.
@usableFromInline
package struct StoreEventOrder: Sendable {
  let store: StoreReference?

  init(store: StoreReference?) {
    self.store = store
  }

  /// Whether the store has ever had a subscriber, a handler or an observer, so that an order has to be kept.
  @usableFromInline package var hasListeners: Bool { self.store?.hasListeners ?? false }

  /// Performs an action after all events that were created before this call, and before all later events.
  ///
  /// The thread that delivers the events performs it, with no lock held. Without a store it is performed at once.
  package func perform(_ action: @escaping @Sendable () -> Void) {
    if let store = self.store { store.performInOrder(action) } else { action() }
  }
}

extension OperationContext {
  /// The order of the events of the store that runs the operation with this context.
  @usableFromInline package var storeEventOrder: StoreEventOrder { StoreEventOrder(store: self.run.store) }
}

extension OperationStore {
  /// Performs an action after all events that were created before this call, and before all later events.
  package func performInEventOrder(_ action: @escaping @Sendable () -> Void) {
    self.runtime.performInOrder(action)
  }
}
