extension StoreRuntime {
  /// Changes the machine with the lock held, and notifies the subscribers and the observers after unlocking.
  ///
  /// During a delivery or exclusive access, the events are queued instead.
  ///
  /// - Parameters:
  ///   - context: The context of the events; evaluated after the change.
  ///   - run: The run that makes the change, if any.
  ///   - result: The result for the subscribers. Used if the returned change says so.
  ///   - replacesValue: False if the change leaves the value and the error as they are.
  ///   - event: The event for the observers, nil for none; evaluated after the change, if the store is watched.
  ///   - cause: The cause of the event if it is outside of runs; evaluated as the event is.
  ///   - body: Changes the machine and has no other effect. Called more than once if there are layers.
  func change(
    _ context: @autoclosure () -> OperationContext,
    run: OperationTaskIdentifier? = nil,
    result: RunOutcome? = nil,
    replacesValue: Bool = true,
    event: @autoclosure () -> StoreEvent.What? = nil,
    by cause: @autoclosure () -> OperationRunCause? = nil,
    _ body: (inout StoreMachine, inout StoreMachine.ReleasedValues) -> StoreChange
  ) {
    var change = StoreChange()
    var recipients: Recipients?
    var state: (any StoredState)?
    var isWatched = false
    let mayDeliver = !self.lock.isOwnedByCurrentThread
    let isMade = self.changeMachine(at: nil, replacesValue: replacesValue, resultContext: context()) {
      machine,
      released in
      let activity = machine.reportedActivity
      change = body(&machine, &released)
      recipients = machine.recipients(of: change, result: result, context(), run: run, mayDeliver: mayDeliver)
      if change.isStateNew, recipients != nil { state = machine.shownState }
      isWatched = self.isWatched(.all)
      if isWatched {
        self.queueEvents(of: change, event(), context(), run: run, by: cause(), since: activity, &machine)
      }
      return change
    }
    if !isMade {
      self.changeBelowLayers(
        context(),
        run: run,
        result: result,
        event: event(),
        by: cause(),
        body
      )
    }
    guard let recipients else {
      if isWatched { self.deliver() }
      return
    }
    recipients.receive(
      state: state,
      result: change.bringsResult ? result : nil,
      lifecycle: change.lifecycle,
      context(),
      run: run
    )
    self.endDelivery()
  }

  /// Changes the state below the layers, which are then applied again, and notifies the subscribers after unlocking.
  ///
  /// Layers are user code. They are applied to a draft without the lock, together with the committed layers that the
  /// undo log replays. The change is then made if the machine still has the version of the draft; otherwise it is tried
  /// again.
  func changeBelowLayers(
    _ context: @autoclosure () -> OperationContext,
    run: OperationTaskIdentifier? = nil,
    result: RunOutcome? = nil,
    event: @autoclosure () -> StoreEvent.What? = nil,
    by cause: @autoclosure () -> OperationRunCause? = nil,
    _ body: (inout StoreMachine, inout StoreMachine.ReleasedValues) -> StoreChange
  ) {
    while true {
      var draft = self.withMachine { $0.draft() }
      let version = draft.version
      let results = LayerResults()
      draft.setLayerResults(results)
      var released = StoreMachine.ReleasedValues()
      _ = body(&draft, &released)
      let shown = draft.hasLayers ? draft.stateWithLayers() : nil
      let isMade = self.change(at: version, showing: shown, resultContext: context()) { machine, released in
        results.replay()
        machine.setLayerResults(results)
        let activity = machine.reportedActivity
        let change = body(&machine, &released)
        machine.setLayerResults(nil)
        machine.queue(change, result: result, context(), run: run)
        if self.isWatched(.all) {
          self.queueEvents(of: change, event(), context(), run: run, by: cause(), since: activity, &machine)
        }
        return change
      }
      if isMade { return self.deliver() }
    }
  }

  /// Changes the machine with the lock held, if it still has the version that the change was prepared for.
  ///
  /// - Parameters:
  ///   - version: The version of the draft.
  ///   - shown: The state with the layers applied, which the store shows from then on; nil without layers.
  ///   - resultContext: The context of a change that brings the result of a run.
  ///   - body: Changes the machine, and queues the events. Called with the lock held.
  /// - Returns: Whether the change was made.
  func change(
    at version: UInt64,
    showing shown: (any StoredState)?,
    resultContext: @autoclosure () -> OperationContext? = nil,
    _ body: (inout StoreMachine, inout StoreMachine.ReleasedValues) -> StoreChange
  ) -> Bool {
    self.changeMachine(at: version, replacesValue: true, resultContext: resultContext()) { machine, released in
      machine.show(shown)
      return body(&machine, &released)
    }
  }

  /// Changes the machine with the lock held. After unlocking, replaced objects are released, and observers of the value
  /// settle.
  ///
  /// - Parameters:
  ///   - version: The version that the machine must have; nil for a change that is made if it calls no layers.
  ///   - replacesValue: False if the change leaves the value and the error as they are.
  ///   - resultContext: The context of a change that brings the result of a run.
  ///   - body: Changes the machine. Called with the lock held.
  /// - Returns: Whether the change was made.
  @inline(__always)
  private func changeMachine(
    at version: UInt64?,
    replacesValue: Bool,
    resultContext: @autoclosure () -> OperationContext?,
    _ body: (inout StoreMachine, inout StoreMachine.ReleasedValues) -> StoreChange
  ) -> Bool {
    var observers: [any StoreValueObserver] = []
    let isMade = self.withMachine { machine, released in
      guard machine.beginChange(at: version, replacesValue: replacesValue, self.traits, &released) else { return false }
      let change = body(&machine, &released)
      if replacesValue, self.showsValues {
        let resultContext = change.bringsResult ? resultContext() : nil
        observers = self.show(.value, of: change, resultContext: resultContext, &machine, &released)
      }
      return true
    }
    if !observers.isEmpty { self.settle(observers) }
    return isMade
  }
}

extension StoreMachine {
  /// Begins a change with the lock held. Returns false if layers have to be applied to a draft first, or if a draft is
  /// outdated.
  ///
  /// - Parameters:
  ///   - version: The version that the machine must have; nil for a change that is made if it calls no layers.
  ///   - replacesValue: False if the change leaves the value and the error as they are.
  ///   - traits: The settings by which the store treats states of its type.
  ///   - released: Receives the values and the errors before the change.
  /// - Returns: Whether to make the change.
  @inline(never)
  fileprivate mutating func beginChange(
    at version: UInt64?,
    replacesValue: Bool,
    _ traits: StateTraits,
    _ released: inout ReleasedValues
  ) -> Bool {
    guard version == nil ? !self.callsLayers : version == self.version else { return false }
    if replacesValue { released.replaced = ReplacedValues(of: self) }
    if traits.contains(.hasHistory) { released.append(self.state) }
    self.version += 1
    return true
  }
}

// MARK: - Who is notified

extension StoreMachine {
  /// Returns the recipients of a change if the caller has to deliver it. `StoreRuntime.endDelivery()` has to follow.
  ///
  /// Returns nil if there are no subscribers or the change is empty. If the caller may not deliver, or if earlier
  /// events are queued or being delivered, it queues the change and returns nil.
  mutating func recipients(
    of change: StoreChange,
    result: RunOutcome?,
    _ context: @autoclosure () -> OperationContext,
    run: OperationTaskIdentifier?,
    addressee: Subscriber? = nil,
    mayDeliver: Bool
  ) -> Recipients? {
    if self.subscribers.isEmpty || change.isEmpty { return nil }
    guard mayDeliver, self.eventQueue.beginDirectly() else {
      self.queue(change, result: result, context(), run: run, addressee: addressee)
      return nil
    }
    return Recipients(slots: self.subscribers.slots, limit: self.subscribers.nextNumber, addressee: addressee)
  }
}

/// The subscribers that receive an event.
struct Recipients: Sendable {
  let slots: ContiguousArray<SubscriberTable.Slot>
  /// Subscribers with this number or a greater one were added after the event, and do not receive it.
  let limit: UInt64
  /// The only subscriber that receives the event; nil if all subscribers do.
  let addressee: Subscriber?

  /// Calls `body` with each recipient of an event of `run`, in the order of the subscriptions.
  private func forEach(run: OperationTaskIdentifier?, _ body: (Subscriber) -> Void) {
    if let addressee = self.addressee { return body(addressee) }
    for slot in self.slots {
      if slot.number >= self.limit { break }
      if let subscriber = slot.subscriber, slot.receivesEvents(of: run) { body(subscriber) }
    }
  }

  /// Delivers the parts of an event: first the state to all recipients, then the result, then the lifecycle event.
  @inline(never)
  func receive(
    state: (any StoredState)?,
    result: RunOutcome?,
    lifecycle: StoreChange.Lifecycle?,
    _ context: OperationContext,
    run: OperationTaskIdentifier?
  ) {
    if let state { self.forEach(run: run) { $0.receive(state, context) } }
    if let result { self.forEach(run: run) { $0.receive(result, context) } }
    if let lifecycle { self.forEach(run: run) { $0.receive(lifecycle, context) } }
  }
}

// MARK: - Delivery

extension StoreRuntime {
  /// Delivers the queued events, unless another thread is delivering or this thread has exclusive access.
  func deliver() {
    guard !self.lock.isOwnedByCurrentThread else { return }
    self.deliver(from: self.withMachine { $0.beginDelivery() })
  }

  /// Performs a delivery, and the deliveries behind it in the queue.
  private func deliver(from first: Delivery?) {
    var delivery = first
    while let current = delivery.take() {
      current.perform()
      delivery = self.withMachine { $0.nextDelivery() }
    }
  }

  /// Ends a delivery that bypassed the event queue, and delivers the events that were queued meanwhile.
  func endDelivery() {
    if !self.withMachine({ $0.eventQueue.end() }) { self.deliverRest() }
  }

  /// Delivers the queued events, and ends the delivery that this thread has begun.
  func deliverRest() {
    self.deliver(from: self.withMachine { $0.nextDelivery() })
  }

  /// Performs an action after the events queued so far and before all later ones.
  func performInOrder(_ action: @escaping @Sendable () -> Void) {
    let mayDeliver = !self.lock.isOwnedByCurrentThread
    let isNext = self.withMachine { machine in
      let isNext = mayDeliver && machine.eventQueue.beginDirectly()
      if !isNext { machine.eventQueue.append(.action(action)) }
      return isNext
    }
    guard isNext else { return }
    action()
    self.endDelivery()
  }

  /// Performs an action that may call user code: now, or when the exclusive access of this thread ends.
  func act(_ action: @escaping @Sendable () -> Void) {
    if self.lock.isOwnedByCurrentThread {
      self.withMachine { $0.deferredActions.append(action) }
    } else {
      action()
    }
  }

  /// Runs `body` with exclusive access. When the outermost call ends, delivers the events and performs the actions.
  package func withExclusiveAccess<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    defer { self.performDeferredActions() }
    return try self.lock.withExclusiveAccess(body)
  }

  func performDeferredActions() {
    guard !self.lock.isOwnedByCurrentThread else { return }
    let (actions, releases) = self.withMachine { ($0.takeDeferredActions(), $0.takeDeferredReleases()) }
    self.settleObservers()
    self.deliver()
    for action in actions { action() }
    _ = consume releases
  }
}

// MARK: - Subscribers

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
    var joined: SharedRun?
    let (recipients, change) = self.withMachine { machine in
      if machine.isClosed { isClosed = true }
      machine.subscribers.add(subscriber, role: name.map { .namedSubscriber($0) } ?? .subscriber)
      if mode != nil { joined = machine.joinLastingRun() }
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
    // Asked without the lock. Subscribers own no run of an operation that does not run for them.
    if let joined, !self.canYieldRerun { self.giveUp(joined) }
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

  /// Ends the ownership of a run that the subscribers have joined, unless the last of them has left and ended it.
  private func giveUp(_ joined: SharedRun) {
    let isOwned = self.withMachine { machine in
      guard let index = machine.subscriberRuns.firstIndex(where: { $0 === joined }) else { return false }
      machine.subscriberRuns.remove(at: index)
      return true
    }
    if isOwned { self.act { joined.removeOwner() } }
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
