extension OperationStore {
  /// Subscribes to the events of the store under a name, which explanations and events show.
  ///
  /// ```swift
  /// self.subscription = store.subscribe(named: "PostView", with: handler)
  /// ```
  ///
  /// Works like ``subscribe(with:isolation:)-(OperationEventHandler<State>,_)`` otherwise.
  ///
  /// - Parameters:
  ///   - name: The name of the subscriber, without user data, such as the name of a view.
  ///   - handler: Called in event order with no lock held, on the thread that delivers the event.
  ///   - isolation: The actor of the caller, on which a run that this call starts does not begin.
  /// - Returns: The subscription. Events stop when it is cancelled or dropped.
  public func subscribe(
    named name: String,
    with handler: OperationEventHandler<State> = OperationEventHandler(),
    isolation: (any Actor)? = #isolation
  ) -> OperationSubscription {
    let mode: SharedRun.StartMode = isolation == nil ? .immediate : .enqueued
    return self.runtime.subscribe(handler, mode: mode, name: SubscriberName(name))
  }

  /// Subscribes as ``subscribe(with:isolation:)-(OperationEventHandler<State>,_)`` does, under a name.
  ///
  /// - Parameters:
  ///   - name: The name of the subscriber, without user data.
  ///   - runs: Whether the operation runs if it is stale.
  ///   - handler: Called in event order with no lock held.
  /// - Returns: The subscription.
  package func subscribe(
    named name: String,
    runsIfStale runs: Bool,
    with handler: OperationEventHandler<State>
  ) -> OperationSubscription {
    self.runtime.subscribe(handler, mode: runs ? .immediate : nil, name: SubscriberName(name))
  }
}

extension OperationStore where State: QueryStateProtocol {
  /// Subscribes to the events of the store under a name, which explanations and events show.
  ///
  /// Works like the method that takes an ``OperationEventHandler``.
  ///
  /// - Parameters:
  ///   - name: The name of the subscriber, without user data, such as the name of a view.
  ///   - handler: Called in event order with no lock held, on the thread that delivers the event.
  ///   - isolation: The actor of the caller, on which a run that this call starts does not begin.
  /// - Returns: The subscription. Events stop when it is cancelled or dropped.
  public func subscribe(
    named name: String,
    with handler: QueryEventHandler<State>,
    isolation: (any Actor)? = #isolation
  ) -> OperationSubscription {
    self.subscribe(named: name, with: OperationEventHandler(handler), isolation: isolation)
  }
}

extension OpaqueOperationStore {
  /// Subscribes to the events of the store under a name, which explanations and events show.
  ///
  /// Works like ``subscribe(with:isolation:)`` otherwise.
  ///
  /// - Parameters:
  ///   - name: The name of the subscriber, without user data, such as the name of a view.
  ///   - handler: Called in event order with no lock held, on the thread that delivers the event.
  ///   - isolation: The actor of the caller, on which a run that this call starts does not begin.
  /// - Returns: The subscription. Events stop when it is cancelled or dropped.
  public func subscribe(
    named name: String,
    with handler: OpaqueOperationEventHandler = OpaqueOperationEventHandler(),
    isolation: (any Actor)? = #isolation
  ) -> OperationSubscription {
    self.typed.subscribe(named: name, with: handler, isEnqueued: isolation != nil)
  }
}
