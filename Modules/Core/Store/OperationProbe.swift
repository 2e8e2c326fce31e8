/// Is notified of events of a store that a modifier cannot observe.
///
/// Modules that measure runs use it.
package protocol OperationProbe: Sendable {
  /// Called when a store is created. The returned subscription is cancelled when the store is released.
  func storeWasMade() -> OperationSubscription

  /// Called when a subscriber is added. The returned subscription is cancelled when it leaves or the store is released.
  func subscriberWasAdded() -> OperationSubscription

  /// Called when a caller joins a run that is under way.
  func runWasJoined()
}

extension OperationContext {
  /// The probes of the operation, which modifiers add in their `setup`.
  package var operationProbes: [any OperationProbe] {
    get { self[ProbesKey.self] }
    set { self[ProbesKey.self] = newValue }
  }

  /// Notifies the probes that a caller has joined a run that is under way.
  package func noteJoin() {
    if self.isProbed { self.notifyJoin() }
    if EventReaders.exist, let id = self.run.taskIdentifier {
      self.run.store?.runtime?.record(.runJoined, in: self, run: id)
    }
  }

  var isProbed: Bool { self.isSet(ProbesKey.self) }

  func notifyJoin() {
    for probe in self.operationProbes { probe.runWasJoined() }
  }

  enum ProbesKey: Key {
    static let defaultValue: [any OperationProbe] = []
  }
}

extension StoreRuntime {
  /// Notifies the probes that a subscriber is added. The returned subscription is to be cancelled when it leaves.
  func subscribeProbes() -> OperationSubscription {
    .combined(self.context.operationProbes.map { $0.subscriberWasAdded() })
  }
}
