/// Is notified of stores, subscribers, and callers that join runs, which a modifier around the operation cannot
/// observe.
///
/// A modifier that measures runs adds a probe in its `setup`, for the stores that are made from then on:
///
/// ```swift
/// func setup(context: inout OperationContext, using operation: Operation) {
///   context.operationProbes.append(Gauges())
///   operation.setup(context: &context)
/// }
/// ```
///
/// Its methods are called with no lock held, on the thread where the event occurs. So a probe misses no event, unlike a
/// slow reader of ``OperationClient/events``, which has the same events and more.
public protocol OperationProbe: Sendable {
  /// Called when a store is created. The returned subscription is cancelled when the store is released.
  func storeWasMade() -> OperationSubscription

  /// Called when a subscriber is added. The returned subscription is cancelled when it leaves or the store is released.
  func subscriberWasAdded() -> OperationSubscription

  /// Called when a caller joins a run that is under way.
  func runWasJoined()
}

extension OperationContext {
  /// The probes of the operation, which modifiers add in their `setup`. Empty by default.
  ///
  /// They belong to the operation: an ``OperationRunner`` ignores the probes in the context that it is given.
  public var operationProbes: [any OperationProbe] {
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
