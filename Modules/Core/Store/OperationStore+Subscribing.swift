extension OperationStore {
  /// Hears of everything that happens in the store until the subscription is cancelled or dropped.
  ///
  /// The handler gets the state at once. If the value is stale and automatic running is enabled, the operation is run, or
  /// a run that is there is joined; it is cancelled when the last subscriber leaves and nobody else awaits it. The
  /// subscription does not keep the store alive.
  ///
  /// - Parameters:
  ///   - handler: Called in event order, never while a lock is held.
  ///   - isolation: The caller's actor, which a run that is started leaves. A function without an actor of its own that is called
  ///     on one passes that on here; otherwise the body begins on it, and keeps it until it first suspends.
  @inlinable
  public func subscribe(
    with handler: OperationEventHandler<State>,
    isolation: (any Actor)? = #isolation
  ) -> OperationSubscription {
    self.runtime.subscribe(handler, mode: isolation == nil ? .immediate : .enqueued)
  }
}

extension OperationStore where State: QueryStateProtocol {
  /// Hears of everything that happens in the store until the subscription is cancelled or dropped.
  ///
  /// It does what subscribing with an ``OperationEventHandler`` does.
  @inlinable
  public func subscribe(
    with handler: QueryEventHandler<State>,
    isolation: (any Actor)? = #isolation
  ) -> OperationSubscription {
    self.subscribe(with: OperationEventHandler(handler), isolation: isolation)
  }
}
