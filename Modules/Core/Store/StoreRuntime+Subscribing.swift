extension StoreRuntime {
  /// Adds a subscriber, delivers the state to it, and runs the operation if the value is stale.
  ///
  /// - Parameters:
  ///   - handler: Receives the events.
  ///   - mode: `enqueued` if the caller is on an actor, which the operation must not block.
  ///   - onStoreGone: Called when the store is deinitialized, or at once if it has been already.
  /// - Returns: The subscription. Events stop when it is cancelled or dropped.
  @inlinable
  func subscribe(
    _ handler: OperationEventHandler<State>,
    mode: StoreRun.StartMode,
    onStoreGone: (@Sendable () -> Void)? = nil
  ) -> OperationSubscription {
    if self.isProbed { return self.subscribeProbed(handler, mode: mode, onStoreGone: onStoreGone) }
    return self.addSubscriber(handler, mode: mode, onStoreGone: onStoreGone)
  }

  @inlinable
  func addSubscriber(
    _ handler: OperationEventHandler<State>,
    mode: StoreRun.StartMode,
    onStoreGone: (@Sendable () -> Void)?
  ) -> OperationSubscription {
    var isClosed = self.noteDependent()
    let mayDeliver = !self.machine.isOwnedByCurrentThread
    var (state, context) = (State?.none, OperationContext())
    let (subscriber, recipients, change) = self.machine.withLock { machine in
      if machine.isClosed { isClosed = true }
      let subscriber = machine.subscribers.add(handler, role: .subscriber, onStoreGone: onStoreGone)
      context = machine.context
      let recipients = machine.recipients(
        of: StoreChange(isStateNew: true),
        result: nil,
        context,
        run: nil,
        addressee: subscriber,
        mayDeliver: mayDeliver
      )
      if recipients != nil { state = machine.shownState }
      return (subscriber, recipients, self.activityChange(of: &machine))
    }
    if let recipients {
      recipients.receive(state: state, result: nil, lifecycle: nil, context, run: nil)
      self.endDelivery()
    }
    if let change { self.notify(of: change) }
    if isClosed { return self.subscriptionToClosedStore(subscriber) }
    if self.isAutomaticRunningEnabled, self.isStale { self.runForSubscribers(mode: mode) }
    return OperationSubscription(to: self) { self.unsubscribe(subscriber) }
  }

  /// Ends a subscription to a deinitialized store: the subscriber has the last state, and no event follows.
  @usableFromInline
  func subscriptionToClosedStore(_ subscriber: Subscriber<State>) -> OperationSubscription {
    self.unsubscribe(subscriber)
    subscriber.onStoreGone?()
    return .empty
  }

  @inlinable
  func unsubscribe(_ subscriber: Subscriber<State>) {
    subscriber.cancel()
    let sharedRuns: [StoreRun] = self.machine.withLock { machine in
      guard machine.subscribers.remove(subscriber), machine.subscribers.count == 0 else { return [] }
      defer { machine.subscriberRuns = [] }
      return machine.subscriberRuns
    }
    if !sharedRuns.isEmpty { self.act { for sharedRun in sharedRuns { sharedRun.removeOwner() } } }
    self.activityChanged()
  }
}
