/// The event order of the store that runs an operation, for authors of kinds that report events of their own.
///
/// ```swift
/// let order = context.storeEventOrder
/// if order.hasListeners { order.perform { handler.onChapterLoaded?(chapter) } }
/// ```
public struct StoreEventOrder: Sendable {
  let store: StoreReference?

  init(store: StoreReference?) {
    self.store = store
  }

  /// Whether the store has ever had a subscriber, a handler or an observer, so that an order has to be kept.
  public var hasListeners: Bool { self.store?.hasListeners ?? false }

  /// Performs an action after all events that were created before this call, and before all later events.
  ///
  /// The thread that delivers the events performs it, with no lock held. Without a store, or when it has been
  /// released, it is performed at once.
  ///
  /// - Parameter action: The action.
  public func perform(_ action: @escaping @Sendable () -> Void) {
    if let store = self.store { store.performInOrder(action) } else { action() }
  }
}

extension OperationContext {
  /// The order of the events of the store that runs the operation with this context.
  ///
  /// Outside of a store there is no order: actions are performed at once.
  public var storeEventOrder: StoreEventOrder { StoreEventOrder(store: self.run.store) }
}

extension OperationStore {
  /// Performs an action after all events that were created before this call, and before all later events.
  public func performInEventOrder(_ action: @escaping @Sendable () -> Void) {
    self.runtime.performInOrder(action)
  }
}
