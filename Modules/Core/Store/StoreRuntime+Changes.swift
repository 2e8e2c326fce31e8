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
