/// A store with any type of state, for observers that rerun it.
public protocol WatchableStore: AnyObject, Sendable {
  var context: OperationContext { get }
  var subscriberCount: Int { get }

  /// Reruns the operation as ``OperationControls/rerunForSubscribersSinceChange()`` does.
  ///
  /// - Parameter cause: The condition that became true.
  func rerunSinceChange(_ cause: OperationRunCause)
}

extension StoreRuntime: WatchableStore {
  /// Keeps a subscription and cancels it when the store is released, after the controllers' subscriptions.
  func cancelWhenClosed(_ subscription: OperationSubscription) {
    self.noteDependent()
    self.withMachine { machine in
      machine.controllers = machine.controllers.map { .combined($0, subscription) } ?? subscription
    }
  }
}

extension OperationStore {
  /// Attaches an observer that can rerun the store, with less memory than an ``OperationController``.
  ///
  /// - Parameter begin: Begins the observation. It receives the runtime of the store, which does not keep the store
  ///   alive. The returned subscription is cancelled when the store is released.
  /// - Returns: The store.
  public func watched(by begin: (any WatchableStore) -> OperationSubscription) -> OperationStore {
    self.runtime.cancelWhenClosed(begin(self.runtime))
    return self
  }
}
