internal import Synchronization

// MARK: - Whether an event has to be made

extension StoreRuntime {
  /// Whether an observer of the store receives events of one of these kinds. One load.
  @inline(__always)
  func isWatched(_ kinds: StoreEvent.Kinds) -> Bool {
    self.watch.load(ordering: .relaxed) & UInt32(kinds.rawValue) != 0
  }

  /// Whether an observer is called before a value can be read.
  @inline(__always)
  var showsValues: Bool { self.watch.load(ordering: .relaxed) & StoreWatch.values.rawValue != 0 }

  /// Whether an observer of a client observes the store.
  var isObservedByClient: Bool { self.watch.load(ordering: .relaxed) & StoreWatch.client.rawValue != 0 }

  /// Whether an observer receives anything of the store.
  var hasObservers: Bool { self.watch.load(ordering: .relaxed) != 0 }

  /// Writes what the observers receive. Called with the lock held.
  func updateWatch(_ machine: borrowing StoreMachine) {
    let own = machine.extras?.content.observers.watch ?? []
    self.watch.store(own.union(self.clientObservers?.watch ?? []).rawValue, ordering: .relaxed)
  }

  /// All observers of the store, in the order in which they receive an event. Called with the lock held.
  private func observers(_ machine: borrowing StoreMachine) -> [StoreObserving] {
    let members = machine.extras?.content.observers.members.map(\.observing) ?? []
    guard let list = self.clientObservers else { return members }
    return members.isEmpty ? list.observings : members + self.withoutOwn(list.observings, machine)
  }

  /// The observers that the store does not have by itself. Called with the lock held.
  func withoutOwn(_ observings: [StoreObserving], _ machine: borrowing StoreMachine) -> [StoreObserving] {
    guard let own = machine.extras?.content.observers, !own.isEmpty else { return observings }
    return observings.filter { !own.contains($0.observer) }
  }

  /// The observers that the store has by itself.
  var ownObservers: [any StoreObserver] {
    self.withMachine { $0.extras?.content.observers.members.map(\.observing.observer) ?? [] }
  }

  /// The observers that are called before a value can be read. Called with the lock held.
  private func valueObservers(_ machine: borrowing StoreMachine) -> [any StoreValueObserver] {
    if self.clientObservers != nil { return self.observers(machine).compactMap(\.valueObserver) }
    return machine.extras?.content.observers.valueObservers ?? []
  }
}

// MARK: - Events

extension StoreRuntime {
  /// Queues an event for the observers that receive it. Called with the lock held; the caller delivers it.
  ///
  /// - Parameters:
  ///   - what: The event.
  ///   - context: The context of the event; nil for the store's.
  ///   - run: The run that the event belongs to, if any.
  ///   - cause: The cause of an event outside of runs.
  ///   - recipients: The recipients; nil for all observers that receive the kind.
  ///   - machine: The machine of the store.
  // Not inlined: nearly no store is watched.
  @inline(never)
  func queue(
    _ what: StoreEvent.What,
    in context: OperationContext? = nil,
    run: OperationTaskIdentifier? = nil,
    by cause: OperationRunCause? = nil,
    to recipients: [StoreObserving]? = nil,
    _ machine: inout StoreMachine
  ) {
    if let event = self.event(what, in: context, run: run, by: cause, to: recipients, machine) {
      machine.eventQueue.append(.observed(event))
    }
  }

  /// An event for the observers that receive it; nil if none does. Called with the lock held.
  func event(
    _ what: StoreEvent.What,
    in context: OperationContext? = nil,
    run: OperationTaskIdentifier? = nil,
    by cause: OperationRunCause? = nil,
    to recipients: [StoreObserving]? = nil,
    _ machine: borrowing StoreMachine
  ) -> ObservedEvent? {
    let recipients = (recipients ?? self.observers(machine)).filter { $0.receives(what) }
    if recipients.isEmpty { return nil }
    let context = context ?? machine.context
    let event = StoreEvent(what: what, context: context, run: run, cause: cause, runtime: self)
    return ObservedEvent(event, of: self.reference, to: recipients)
  }

  /// Delivers one event: at once if no other is queued or being delivered.
  ///
  /// An idle store that has only had events of its membership then has no memory for a queue.
  ///
  /// - Parameter make: Returns the event. Called with the lock held.
  func deliver(_ make: (inout StoreMachine, inout StoreMachine.ReleasedValues) -> ObservedEvent?) {
    let mayDeliver = !self.lock.isOwnedByCurrentThread
    var isQueued = false
    let event = self.withMachine { machine, released -> ObservedEvent? in
      guard let event = make(&machine, &released) else { return nil }
      if mayDeliver, machine.eventQueue.beginDirectly() { return event }
      machine.eventQueue.append(.observed(event))
      isQueued = true
      return nil
    }
    if isQueued { return self.deliver() }
    guard let event else { return }
    event.deliver()
    self.endDelivery()
  }

  /// Queues the events of a change. Called with the lock held; the caller delivers them.
  @inline(never)
  func queueEvents(
    of change: StoreChange,
    _ what: StoreEvent.What?,
    _ context: OperationContext,
    run: OperationTaskIdentifier?,
    by cause: @autoclosure () -> OperationRunCause?,
    since activity: StoreMachine.Activity,
    _ machine: inout StoreMachine
  ) {
    defer { self.queueActivity(since: activity, &machine) }
    if let what, what.kind.map({ self.isWatched($0) }) ?? true {
      self.queue(what, in: context, run: run, by: cause(), &machine)
    }
    guard change.isStateNew, self.isWatched(.states) else { return }
    let shown = ShownState(machine, .value, isInClient: self.isKeptByClient)
    self.queue(.stateChanged(shown), in: context, run: run, &machine)
  }

  /// Queues the event of the first run or subscriber that has come, or of the last one that has gone. Called with the
  /// lock held.
  func queueActivity(since last: StoreMachine.Activity, _ machine: inout StoreMachine) {
    let now = machine.reportedActivity
    guard now.isRunning != last.isRunning || now.hasSubscribers != last.hasSubscribers, self.isWatched(.activity) else {
      return
    }
    self.queue(
      .activityChanged(isRunning: now.isRunning, subscriberCount: machine.subscribers.count),
      &machine
    )
  }

  /// Passes an event that changes no state on to the observers.
  ///
  /// - Parameters:
  ///   - what: The event; evaluated with no lock held.
  ///   - context: The context of the event; nil for the store's.
  ///   - run: The run that the event belongs to, if any.
  ///   - cause: The cause of an event outside of runs.
  @inline(never)
  func report(
    _ what: StoreEvent.What,
    in context: OperationContext? = nil,
    run: OperationTaskIdentifier? = nil,
    by cause: OperationRunCause? = nil
  ) {
    self.deliver { machine, _ in self.event(what, in: context, run: run, by: cause, machine) }
  }

  /// Whether a client keeps the store. Nothing is released by this.
  package var isKeptByClient: Bool { self.entryLock.withLock { _ in self.links.entry != nil } }
}

// MARK: - Values

extension StoreRuntime {
  /// Calls the observers of values. Called with the lock held.
  ///
  /// - Parameters:
  ///   - changes: What may differ.
  ///   - change: The change of the value, if it has changed.
  ///   - resultContext: The context of the run whose result the change has set; nil for another change.
  ///   - machine: The machine of the store.
  ///   - released: Receives what the observers no longer need.
  /// - Returns: The observers, which the caller lets settle after the lock.
  @inline(never)
  func show(
    _ changes: ShownState.Changes,
    of change: StoreChange = StoreChange(),
    resultContext: OperationContext? = nil,
    _ machine: inout StoreMachine,
    _ released: inout StoreMachine.ReleasedValues
  ) -> [any StoreValueObserver] {
    let observers = self.valueObservers(machine)
    if observers.isEmpty { return [] }
    // Each call has a version of its own, by which an observer finds the newest state.
    if !changes.contains(.value) { machine.version += 1 }
    let shown = ShownState(
      machine,
      changes,
      isInClient: self.isKeptByClient,
      resultContext: resultContext,
      isWholeResult: change.isWholeResult,
      epoch: change.addsLayer ? .latest : nil
    )
    for observer in observers {
      if let dropped = observer.storeShows(shown, of: self.reference) { released.append(dropped) }
    }
    return observers
  }

  /// Calls the observers of values after the lock. During exclusive access they are called when that ends.
  @inline(never)
  func settle(_ observers: [any StoreValueObserver]) {
    if observers.isEmpty || self.lock.isOwnedByCurrentThread { return }
    for observer in observers { observer.storeHasSettled(self.reference) }
  }

  /// Calls the observers of values when exclusive access ends.
  func settleObservers() {
    guard self.showsValues else { return }
    self.settle(self.withMachine { self.valueObservers($0) })
  }

  /// Calls the observers of values after a client has taken or dropped the store.
  func showMembership() {
    guard self.showsValues else { return }
    self.settle(self.withMachine { self.show(.membership, &$0, &$1) })
  }
}

// MARK: - Adding and removing

extension StoreRuntime {
  /// Adds an observer for events from now on.
  func add(_ observing: StoreObserving) {
    let isClosed = self.noteDependent()
    self.begin(observing) { self.add(observing, to: &$0) }
    if isClosed { self.remove(observing.observer) }
  }

  /// Begins an observation with the first call of a value observer, and the first event.
  ///
  /// - Parameters:
  ///   - observing: The observer.
  ///   - claim: Called with the lock held; adds the observer, and returns whether it was not there before.
  func begin(_ observing: StoreObserving, _ claim: (inout StoreMachine) -> Bool) {
    guard let observer = observing.valueObserver else {
      return self.deliver { machine, _ in
        guard claim(&machine) else { return nil }
        self.updateWatch(machine)
        return self.event(.observed, to: [observing], machine)
      }
    }
    let hasBegun = self.withMachine { machine, released -> Bool in
      guard claim(&machine) else { return false }
      self.updateWatch(machine)
      self.queue(.observed, to: [observing], &machine)
      machine.version += 1
      let shown = ShownState(machine, .observation, isInClient: self.isKeptByClient)
      if let dropped = observer.storeShows(shown, of: self.reference) { released.append(dropped) }
      return true
    }
    if hasBegun { self.settle([observer]) }
    self.deliver()
  }

  /// The observer of a type; if there is none, the one that `make` returns, which is added.
  func observer<Observer: StoreObserver>(orAdd make: @Sendable () -> Observer) -> Observer? {
    if let known = self.withMachine({ self.ownObserver(of: Observer.self, $0) }) { return known }
    self.noteDependent()
    // Made with no lock held: it is asked for its kinds, and released if another thread was faster.
    let made = make()
    let observing = StoreObserving(made)
    var observer = made
    self.begin(observing) { machine in
      if let known = self.ownObserver(of: Observer.self, machine) {
        observer = known
        return false
      }
      return self.add(observing, to: &machine)
    }
    return observer
  }

  /// Adds an observer. Returns whether the store does not have it yet, also not by its client.
  private func add(_ observing: StoreObserving, to machine: inout StoreMachine) -> Bool {
    let isObserved = self.clientObservers?.contains(observing.observer) ?? false
    guard machine.uniqueExtras().content.observers.add(observing) else { return false }
    if isObserved { self.updateWatch(machine) }
    return !isObserved
  }

  private func ownObserver<Observer: StoreObserver>(
    of type: Observer.Type,
    _ machine: borrowing StoreMachine
  ) -> Observer? {
    guard let members = machine.extras?.content.observers.members else { return nil }
    for member in members { if let known = member.observing.observer as? Observer { return known } }
    return nil
  }

  /// Takes back one addition of an observer. After the last one, it receives the events that are queued, and its last.
  func remove(_ observer: any StoreObserver) {
    self.withMachine { machine, released in
      guard machine.extras?.content.observers.contains(observer) == true,
        let observing = machine.uniqueExtras().content.observers.remove(observer)
      else { return }
      released.append(observing)
      if self.clientObservers?.contains(observer) != true { self.queue(.unobserved, to: [observing], &machine) }
      self.updateWatch(machine)
    }
    self.deliver()
  }

  /// Ends the observation by the store's own observers. Called when the store is deinitialized.
  ///
  /// The observers of a client leave here if it has not taken the store. Otherwise they leave when it drops the store.
  func endObservation() {
    if !self.isKeptByClient { self.wasRefusedByClient() }
    self.withMachine { machine, released in
      guard machine.extras?.content.observers.isEmpty == false else { return }
      let observers = machine.uniqueExtras().content.observers
      released.append(observers)
      machine.uniqueExtras().content.observers = StoreObservers()
      self.queue(.unobserved, to: observers.members.map(\.observing), &machine)
      self.updateWatch(machine)
    }
    self.deliver()
  }
}

// MARK: - Observers of the client

extension StoreRuntime {
  /// Begins the observation by an observer of a client, unless it has begun, or the client no longer has the store.
  ///
  /// - Parameters:
  ///   - member: The observer. One that has left is ignored.
  ///   - observers: The observers of the client.
  ///   - isTaken: False for a store that the client is about to take.
  func begin(with member: ClientObservers.Member, in observers: ClientObservers, isTaken: Bool = true) {
    let observing = member.observing
    if !observing.watch.isSubset(of: StoreWatch(.membership)) { self.noteDependent() }
    self.begin(observing) { machine in
      let members = self.clientObservers?.members ?? []
      guard member.isActive, !isTaken || self.isKeptByClient, !members.contains(where: { $0 === member }) else {
        return false
      }
      let isKnown = self.clientObservers?.contains(observing.observer) ?? false
      // The list before is shared, or retained by its members: nothing of a user is released here.
      self.clientObservers = observers.list(of: members + [member])
      self.updateWatch(machine)
      return !isKnown && machine.extras?.content.observers.contains(observing.observer) != true
    }
  }

  /// Ends the observations by observers of a client that have left.
  func endObservations(in observers: ClientObservers) {
    let hasEnded = self.withMachine { machine, released -> Bool in
      guard let list = self.clientObservers, !list.members.allSatisfy(\.isActive) else { return false }
      self.replaceClientObservers(with: observers.list(of: list.members.filter(\.isActive)), &machine, &released)
      return true
    }
    if hasEnded { self.deliver() }
  }

  /// Ends the observations of a store that a client has not taken after all.
  package func wasRefusedByClient() {
    guard self.isObservedByClient else { return }
    self.withMachine { self.replaceClientObservers(with: nil, &$0, &$1) }
    self.deliver()
  }

  /// Replaces the observers of a client by some of them, and queues the last event of the others. Called with the lock
  /// held.
  private func replaceClientObservers(
    with list: ClientObservers.List?,
    _ machine: inout StoreMachine,
    _ released: inout StoreMachine.ReleasedValues
  ) {
    guard let former = self.clientObservers else { return }
    released.append(former)
    self.clientObservers = list
    let ended = former.observings.filter { list?.contains($0.observer) != true }
    self.queue(.unobserved, to: self.withoutOwn(ended, machine), &machine)
    self.updateWatch(machine)
  }

  /// The client has taken the store.
  func wasAddedToClient() {
    self.showMembership()
    guard self.isWatched(.membership) else { return }
    self.deliver { machine, _ in self.isKeptByClient ? self.event(.addedToClient, machine) : nil }
  }

  /// The client no longer has the store: its observers leave.
  ///
  /// - Parameters:
  ///   - removal: Why it no longer has the store.
  ///   - cause: What has removed it; nil if nothing observes it.
  func leaveClientObservers(_ removal: StoreEvent.Removal, by cause: OperationRunCause?) {
    self.showMembership()
    self.withMachine { machine, released in
      // A store may have been put into the client again.
      if self.isKeptByClient { return }
      if self.isWatched(.membership) { self.queue(.removedFromClient(removal), by: cause, &machine) }
      self.replaceClientObservers(with: nil, &machine, &released)
    }
    self.deliver()
  }
}

// MARK: - The state

extension StoreRuntime {
  package var path: OperationPath { self.operation.path }

  /// The state that the store shows: with the layers applied.
  var shownState: any StoredState { self.withMachine { $0.shownState } }

  /// Whether the last invalidation has not been answered.
  package var isInvalidated: Bool { self.withMachine { $0.isInvalidated } }

  /// The number of changes of the value that its count does not include.
  var uncountedChanges: Int { self.withMachine { $0.extras?.content.uncountedChanges ?? 0 } }

  /// The state that the store shows, with a number that differs if the value was changed without a change of its count.
  ///
  /// With layers, each change of the store counts as a change of the value.
  var stateAndUncountedChanges: (state: any StoredState, uncountedChanges: UInt64, version: UInt64) {
    self.withMachine { machine in
      let changes = UInt64(machine.extras?.content.uncountedChanges ?? 0)
      return (machine.shownState, machine.hasLayers ? .max - machine.version : changes, machine.version)
    }
  }

  /// The state without the layers.
  package var stateWithoutLayers: any StoredState { self.withMachine { $0.state } }

  @usableFromInline
  package var context: OperationContext {
    get { self.withMachine { $0.context } }
    set {
      var context = newValue
      // The context may come from a run or an event, whose clock is stopped.
      context.leaveRunOfSameStore()
      self.noteInterceptors(in: context)
      self.withMachine { swap(&$0.context, &context) }
      _ = consume context  // Released after unlocking.
    }
  }

  @usableFromInline
  package var subscriberCount: Int { self.withMachine { $0.subscribers.count } }

  /// The stamp of the value that the store shows: unconfirmed with optimistic updates.
  var valueStamp: ValueStamp { self.withMachine { $0.shownStamp } }

  /// Whether the value should be fetched again: after an invalidation, by its stamp, or because a staleness rule says so.
  ///
  /// The rules receive the state without layers. Without rules a value is always stale.
  var isStale: Bool {
    let (state, context, isInvalidated) = self.withMachine { ($0.state, $0.context, $0.isInvalidated) }
    if isInvalidated { return true }
    let typed = state.typed
    return context.stalenessRules.isStale(typed, state.stamp, in: context)
  }

  var isAutomaticRunningEnabled: Bool {
    guard self.operation.allowsAutomaticRuns, !self.isOver else { return false }
    let context = self.context
    return context.automaticRunningSpecification.isSatisfied(in: context)
  }

  /// Sets a value or an error from outside any run.
  @usableFromInline
  func setResult(_ result: RunOutcome, using context: OperationContext?) {
    let dated = self.eventContext(context)
    self.change(
      dated,
      event: .stateWritten(result.isSuccess ? .valueSet : .errorSet),
      by: .ofCurrentCode(in: context)
    ) { $0.set(result, using: dated, &$1) }
  }

  /// The context of a change outside any run: `context` or the store's, with its clock stopped now.
  func eventContext(_ context: OperationContext?) -> OperationContext {
    var context = context ?? self.context
    // The context may come from an earlier event, whose clock is stopped.
    context.event.frozenDate = nil
    context.event.stamp = ValueStamp(.set)
    return context.stoppingClock()
  }

  /// Resets the state, and cancels all runs after unlocking, before the subscribers are notified.
  ///
  /// - Parameters:
  ///   - context: The context of the change; nil for the store's.
  ///   - cause: The cause of the reset; nil for the code that runs now.
  package func reset(using context: OperationContext?, by cause: OperationRunCause? = nil) {
    self.willReset()
    let passed = context
    let context = self.eventContext(context)
    var tasks: [ErasedTask] = []
    self.change(context, event: .stateWritten(.reset), by: cause ?? .ofCurrentCode(in: passed)) { machine, released in
      let reset = machine.reset(using: context, &released)
      tasks = reset.tasks
      // The runs are cancelled before the event: a run that a handler starts must not join a run that is about to be
      // cancelled.
      if !tasks.isEmpty { machine.eventQueue.append(.action { [tasks] in for task in tasks { task.cancel() } }) }
      return reset.change
    }
    guard !tasks.isEmpty else { return }
    self.deliver()
    // In a handler, or while another thread delivers events, the action waits for its turn. The cancellations do not.
    self.act { [tasks] in for task in tasks { task.cancel() } }
  }

  func willReset() {
    for level in self.context.storeLevels { level.storeWillReset() }
  }
}

// MARK: - Controls

extension StoreRuntime {
  /// Whether a controller may rerun the operation.
  ///
  /// False when the operation needs a direct call to run, when its client has removed the store or has stopped automatic
  /// runs, or when a specification for automatic running is set and not satisfied.
  package var canYieldRerun: Bool {
    if self.isOver { return false }
    let context = self.context
    guard self.operation.allowsAutomaticRuns, !context.automaticRunsAreStopped else { return false }
    return !context.isAutomaticRunningConfigured || context.automaticRunningSpecification.isSatisfied(in: context)
  }

  /// Changes the state on behalf of a controller.
  ///
  /// `epoch` is what the new value has seen, and `stamp` what it is, if it did not come into being now.
  func edit(
    isSuccess: Bool,
    as write: StoreEvent.StateWrite = .edited,
    seen epoch: InvalidationEpoch? = nil,
    _ stamp: ValueStamp? = nil,
    by cause: @autoclosure () -> OperationRunCause,
    using context: OperationContext?,
    _ edit: @escaping @Sendable (inout any StoredState, OperationContext) -> Void
  ) {
    let context = self.eventContext(context)
    self.change(context, event: .stateWritten(write), by: cause()) { machine, released in
      // A restored value is below the one that a run has yielded.
      let isBelow = write == .restored && machine.state.typed.valueUpdateCount > 0
      if let epoch { machine.noteEpoch(isBelow ? min(epoch, machine.valueEpoch) : epoch) }
      let change = machine.edit(isSuccess: isSuccess, using: context, &released) { state in
        let count = state.typed.valueUpdateCount
        edit(&state, context)
        // For states that do not keep a stamp themselves.
        if isSuccess { state.restamp(context.event.stamp) }
        if let stamp, state.typed.valueUpdateCount != count { state.restamp(stamp) }
      }
      if write == .restored, !isBelow {
        machine.noteValueOrigin({ "It was restored from a storage." }, &released)
      }
      return change
    }
  }

  /// Changes parts of the state other than its value and its error on behalf of a controller.
  func editState(_ edit: @escaping @Sendable (inout any StoredState) -> Void) {
    let context = self.eventContext(nil)
    self.change(context, replacesValue: false) { machine, released in
      machine.edit(isSuccess: false, using: context, &released, edit)
    }
  }
}
