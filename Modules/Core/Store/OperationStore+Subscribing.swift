extension OperationStore {
  /// Subscribes to the events of the store until the subscription is cancelled or dropped.
  ///
  /// The handler receives the current state at once. If the value is stale and automatic running is enabled, the store
  /// runs the operation, or uses a run under way. That run is cancelled when the last subscriber has left and no caller
  /// waits for it. The subscription does not keep the store alive. If the operation shares runs, a `fetch()` after this
  /// call joins that run while it is under way. After its end, a `fetch()` makes a second run.
  ///
  /// - Parameters:
  ///   - handler: Called in event order with no lock held, on the thread that delivers the event.
  ///   - isolation: The actor of the caller. With an actor, a run that this call starts does not begin on that actor.
  ///     With nil, it begins on the current thread at once and stays there until it first suspends. A nonisolated
  ///     function that may be called on an actor should take an isolation parameter and pass it on here.
  /// - Returns: The subscription. Events stop when it is cancelled or dropped.
  public func subscribe(
    with handler: OperationEventHandler<State>,
    isolation: (any Actor)? = #isolation
  ) -> OperationSubscription {
    self.runtime.subscribe(handler, mode: isolation == nil ? .immediate : .enqueued)
  }

  /// Subscribes to the events of the store for a caller that does not know its actor: a run does not begin on it.
  package func subscribe(enqueuing handler: OperationEventHandler<State>) -> OperationSubscription {
    self.runtime.subscribe(handler, mode: .enqueued)
  }
}

extension OperationStore where State: QueryStateProtocol {
  /// Subscribes to the events of the store until the subscription is cancelled or dropped.
  ///
  /// Works like the method that takes an ``OperationEventHandler``.
  ///
  /// - Parameters:
  ///   - handler: Called in event order with no lock held, on the thread that delivers the event.
  ///   - isolation: The actor of the caller, on which a run that this call starts does not begin.
  /// - Returns: The subscription. Events stop when it is cancelled or dropped.
  public func subscribe(
    with handler: QueryEventHandler<State>,
    isolation: (any Actor)? = #isolation
  ) -> OperationSubscription {
    self.subscribe(with: OperationEventHandler(handler), isolation: isolation)
  }
}
