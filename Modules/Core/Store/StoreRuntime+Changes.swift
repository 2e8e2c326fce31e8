extension StoreRuntime {
  /// Changes the machine with the lock held, and notifies the subscribers after unlocking.
  ///
  /// During a delivery or exclusive access, the events are queued instead.
  ///
  /// - Parameters:
  ///   - context: The context of the events; evaluated after the change.
  ///   - run: The run that makes the change, if any.
  ///   - result: The result for the subscribers, used when the returned change says so.
  ///   - replacesValue: False if the change leaves the value and the error as they are.
  ///   - outcome: What the run adds to the outcome that the change puts into the state; nil for nothing.
  ///   - body: Changes the machine and has no other effect. With layers it is called more than once.
  func change(
    _ context: @autoclosure () -> OperationContext,
    run: OperationTaskIdentifier? = nil,
    result: RunOutcome? = nil,
    replacesValue: Bool = true,
    outcome: OutcomeEntries? = nil,
    _ body: (inout StoreMachine) -> StoreChange
  ) {
    var change = StoreChange()
    var recipients: Recipients?
    var state: (any StoredState)?
    // Released after unlocking, because deinitializers are user code too.
    var replaced: StoreMachine.ReplacedValues?
    var released: [any Sendable] = []
    var observers: [any ShownStateObserver] = []
    let mayDeliver = !self.lock.isOwnedByCurrentThread
    let isMade = self.withMachine { machine in
      guard !machine.callsLayers else { return false }
      if replacesValue { replaced = machine.retainedValues }
      if self.traits.contains(.hasHistory) { machine.release(machine.state) }
      machine.version += 1
      change = body(&machine)
      if let outcome, change.bringsResult { outcome.outcomeIsInState() }
      recipients = machine.recipients(of: change, result: result, context(), run: run, mayDeliver: mayDeliver)
      if change.isStateNew, recipients != nil { state = machine.shownState }
      if machine.extras != nil {
        if replacesValue { observers = machine.notifyObservers() }
        released = machine.takeReleased()
      }
      return true
    }
    if !mayDeliver { self.deferRelease(of: replaced) }
    _ = consume replaced
    _ = consume released
    // With exclusive access, when that ends.
    if mayDeliver { for observer in observers { observer.settle() } }
    if !isMade { self.changeBelowLayers(context(), run: run, result: result, outcome: outcome, body) }
    guard let recipients else { return }
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
  /// Layers are user code. They are applied to a draft without the lock, including the committed ones that the undo log
  /// replays. The change is made if the machine still has the version of the draft, and tried again otherwise.
  func changeBelowLayers(
    _ context: @autoclosure () -> OperationContext,
    run: OperationTaskIdentifier? = nil,
    result: RunOutcome? = nil,
    outcome: OutcomeEntries? = nil,
    _ body: (inout StoreMachine) -> StoreChange
  ) {
    while true {
      var draft = self.withMachine { $0.draft() }
      let version = draft.version
      let results = LayerResults()
      draft.setLayerResults(results)
      _ = body(&draft)
      let shown = draft.hasLayers ? draft.stateWithLayers() : nil
      let isMade = self.change(at: version, showing: shown) { machine in
        results.replay()
        machine.setLayerResults(results)
        let change = body(&machine)
        if let outcome, change.bringsResult { outcome.outcomeIsInState() }
        machine.setLayerResults(nil)
        machine.queue(change, result: result, context(), run: run)
      }
      if isMade { return self.deliver() }
    }
  }

  /// Changes the machine with the lock held, if it still has the version that the change was prepared for.
  ///
  /// - Parameters:
  ///   - version: The version of the draft.
  ///   - shown: The state with the layers applied, which the store shows from then on; nil without layers.
  ///   - body: Changes the machine, and queues the events. Called with the lock held.
  /// - Returns: Whether the change was made.
  func change(at version: UInt64, showing shown: (any StoredState)?, _ body: (inout StoreMachine) -> Void) -> Bool {
    // Deinitializers are user code too: replaced values are released after unlocking.
    var replaced: StoreMachine.ReplacedValues?
    var released: [any Sendable] = []
    var observers: [any ShownStateObserver] = []
    let isMade = self.withMachine { machine in
      guard machine.version == version else { return false }
      replaced = machine.retainedValues
      if self.traits.contains(.hasHistory) { machine.release(machine.state) }
      machine.version += 1
      machine.show(shown)
      body(&machine)
      observers = machine.notifyObservers()
      released = machine.takeReleased()
      return true
    }
    self.deferRelease(of: replaced)
    _ = consume replaced
    _ = consume released
    if !self.lock.isOwnedByCurrentThread { for observer in observers { observer.settle() } }
    return isMade
  }

  /// Keeps replaced values until the exclusive access of this thread ends, if it has exclusive access.
  ///
  /// At most the last four are kept; earlier ones are released at once.
  func deferRelease(of replaced: StoreMachine.ReplacedValues?) {
    guard let replaced, self.lock.isOwnedByCurrentThread else { return }
    let surplus = self.withMachine { $0.deferRelease(of: replaced) }
    _ = consume surplus
  }
}
