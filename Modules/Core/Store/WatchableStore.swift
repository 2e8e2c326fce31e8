/// A store as those see it who rerun any store, whatever its state.
package protocol WatchableStore: AnyObject, Sendable {
  var context: OperationContext { get }
  var subscriberCount: Int { get }

  /// What ``OperationControls/rerunForSubscribersSinceChange()`` does.
  func rerunSinceChange()
}

extension StoreRuntime: WatchableStore {
  /// Keeps a subscription that is cancelled when the store goes, after those of the controllers.
  func adopt(_ subscription: OperationSubscription) {
    self.noteDependent()
    self.machine.withLock { machine in
      machine.controllers = machine.controllers.map { .combined($0, subscription) } ?? subscription
    }
  }
}

extension OperationStore {
  /// Lets somebody watch the store, as an ``OperationController`` would, at the price of less memory.
  ///
  /// - Parameter begin: Begins to watch. What it returns is cancelled when the store goes. It is handed what works behind the
  ///   store, which does not keep the store alive.
  package func watched(by begin: (any WatchableStore) -> OperationSubscription) -> OperationStore {
    self.runtime.adopt(begin(self.runtime))
    return self
  }
}
