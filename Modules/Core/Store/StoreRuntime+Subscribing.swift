extension StoreRuntime {
  /// Adds a subscriber, delivers the state to it, and runs the operation if the value is stale.
  ///
  /// If the client has removed the store, the removal follows the state, and nothing else.
  ///
  /// - Parameters:
  ///   - handler: Receives the events.
  ///   - mode: `enqueued` if the caller is on an actor, which the operation must not block; nil to run nothing.
  ///   - name: The name of the subscriber; nil for none.
  ///   - onStoreGone: Called when the store is deinitialized, or at once if it has been already.
  /// - Returns: The subscription. Events stop when it is cancelled or dropped.
  func subscribe<State: OperationState & Sendable>(
    _ handler: OperationEventHandler<State>,
    mode: SharedRun.StartMode?,
    name: SubscriberName? = nil,
    onStoreGone: (@Sendable () -> Void)? = nil
  ) -> OperationSubscription {
    self.add(TypedSubscriber(handler, onStoreGone: onStoreGone), mode: mode, name)
  }

  private func add(
    _ subscriber: Subscriber,
    mode: SharedRun.StartMode?,
    _ name: SubscriberName?
  ) -> OperationSubscription {
    var isClosed = self.noteDependent()
    let mayDeliver = !self.lock.isOwnedByCurrentThread
    var (state, context) = ((any StoredState)?.none, OperationContext())
    let (recipients, change) = self.withMachine { machine in
      if machine.isClosed { isClosed = true }
      machine.subscribers.add(subscriber, role: name.map { .namedSubscriber($0) } ?? .subscriber)
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
      if self.isWatched(.subscribers) {
        let count = machine.subscribers.count
        self.queue(.subscriberCame(name: name?.text, count: count), in: context, &machine)
      }
      let activity = machine.reportedActivity
      let change = self.activityChange(of: &machine)
      self.queueActivity(since: activity, &machine)
      return (recipients, change)
    }
    if let recipients {
      recipients.receive(state: state, result: nil, lifecycle: nil, context, run: nil)
      self.endDelivery()
    } else if self.isWatched(.all) {
      self.deliver()
    }
    if let change { self.notify(of: change) }
    if isClosed { return self.subscriptionToClosedStore(subscriber) }
    if self.isOver {
      // The removal did not find the subscriber, or finds it, too: it is notified once.
      self.act { self.endMemberships() }
      return OperationSubscription(to: self) { self.unsubscribe(subscriber) }
    }
    if let mode, self.isAutomaticRunningEnabled,
      self.mayRefresh(because: OperationRunCause(.subscriber(name: name?.text)))
    {
      self.runForSubscribersIfStale(mode: mode, origin: .subscriber(named: name?.text))
    }
    return OperationSubscription(to: self) { self.unsubscribe(subscriber) }
  }

  /// Ends a subscription to a deinitialized store: the subscriber has the last state, and no event follows.
  func subscriptionToClosedStore(_ subscriber: Subscriber) -> OperationSubscription {
    self.unsubscribe(subscriber)
    subscriber.onStoreGone?()
    return .empty
  }

  func unsubscribe(_ subscriber: Subscriber) {
    subscriber.cancel()
    let sharedRuns: [SharedRun] = self.withMachine { machine in
      let role = self.isWatched(.subscribers) ? machine.subscribers.role(of: subscriber) : nil
      guard machine.subscribers.remove(subscriber) else { return [] }
      if let role {
        self.queue(.subscriberLeft(name: role.text, count: machine.subscribers.count), &machine)
      }
      guard machine.subscribers.count == 0 else { return [] }
      defer { machine.subscriberRuns = [] }
      return machine.subscriberRuns
    }
    if !sharedRuns.isEmpty { self.act { for sharedRun in sharedRuns { sharedRun.removeOwner() } } }
    self.activityChanged()
    if self.isWatched(.all) { self.deliver() }
  }
}
