/// The state of a store and its transitions. It calls nobody: what is to be done is returned, or put in the outbox.
struct StoreMachine<State: OperationState & Sendable>: Sendable {
  typealias Task = OperationTask<State.OperationValue, State.Failure>
  typealias RunFlight = Flight<State.OperationValue, State.Failure>

  /// A run between its departure and its landing.
  struct Run: Sendable {
    let task: Task
    /// How often the store had been invalidated when the run began: it answers for no later invalidation.
    let invalidations: Int
    /// False once the run was cancelled: nothing it does shows any more.
    var isShown = true
  }

  var context: OperationContext
  private(set) var layers: [StateLayer<State>] = []
  /// Grows with every change.
  var version: UInt64 = 0
  private(set) var runs: [Run] = []
  /// The runs that have ended and of which not everybody has been told yet.
  var landingFlights: [RunFlight] = []
  /// The runs that the subscribers keep alive together.
  var heldFlights: [RunFlight] = []
  var subscribers = SubscriberTable<State>()
  var outbox = Outbox<State>()
  /// What is to be done once exclusive access ends.
  var deferredActions: [@Sendable () -> Void] = []
  var controllers: OperationSubscription?
  /// Who wants to know that the first subscriber came or the last one left.
  var activityObservers: [UInt64: @Sendable () -> Void] = [:]
  var isClosed = false
  /// Whether the operation is to be run again when the runs that began before the last invalidation have ended.
  var owesRerun = false
  /// How often somebody has asked whether the store is idle: a later answer has a greater number.
  private var idlenessReadings: UInt64 = 0
  private var reportedActivity = (isIdle: true, isRunning: false, hasSubscribers: false)
  private(set) var invalidations = 0
  private(set) var answeredInvalidations = 0

  // What takes as much room as a state does comes last: the fields before are then at places that generic code knows.

  /// What runs and setters have made, beneath the layers.
  private(set) var state: State
  /// What the store shows: the state with the layers over it; nil when there are none.
  private var layeredState: State?
  private var ledger: Ledger<State>?

  init(state: State, context: OperationContext) {
    self.state = state
    self.context = context
  }

  /// What of the user's a state holds, for those who have to outlast a change of it.
  struct Holdings: Sendable {
    let value: State.StateValue
    let shownValue: State.StateValue?
    let error: State.Failure?
  }

  var holdings: Holdings {
    Holdings(value: self.state.currentValue, shownValue: self.layeredState?.currentValue, error: self.state.error)
  }

  /// Whether events wait for somebody to hand them over.
  var needsDelivery: Bool { !self.outbox.isEmpty && !self.outbox.isDelivering }

  var isInvalidated: Bool { self.invalidations > self.answeredInvalidations }

  /// Whether nobody subscribes and nothing runs, with a number that is greater in later answers.
  mutating func readIdleness() -> (isIdle: Bool, reading: UInt64) {
    self.idlenessReadings += 1
    return (self.isIdle, self.idlenessReadings)
  }

  private var isIdle: Bool { self.runs.isEmpty && self.subscribers.count == 0 && self.heldFlights.isEmpty }

  /// Whether the idleness is another than at the last report, and who is to know that runs or subscribers came or went.
  mutating func reportActivity() -> (isIdlenessNew: Bool, observers: [@Sendable () -> Void]) {
    let last = self.reportedActivity
    let now = (isIdle: self.isIdle, isRunning: !self.runs.isEmpty, hasSubscribers: self.subscribers.count > 0)
    self.reportedActivity = now
    let concernsObservers = last.isRunning != now.isRunning || last.hasSubscribers != now.hasSubscribers
    return (last.isIdle != now.isIdle, concernsObservers ? Array(self.activityObservers.values) : [])
  }

  func run(_ id: OperationTaskIdentifier) -> Run? {
    self.runs.last { $0.task.id == id }
  }
}

// MARK: - Results

extension StoreMachine {
  /// Something outside any run has set a value or an error.
  mutating func set(_ change: Ledger<State>.Change, using context: OperationContext) {
    self.change(change, by: nil)
    if change.isSuccess { self.answeredInvalidations = self.invalidations }
    self.postState(context, run: nil)
  }

  /// A run has yielded, which shows unless the run was cancelled.
  mutating func yield(
    _ result: Result<State.OperationValue, State.Failure>,
    of task: Task,
    using context: OperationContext
  ) {
    guard self.run(task.id)?.isShown == true else { return }
    if self.ledger == nil { self.ledger = Ledger(base: self.state) }
    self.change(.reported(result, task), by: task.id)
    self.postState(context, run: task.id)
    self.post(.resultReceived(result), context, run: task.id)
  }

  mutating func invalidate() {
    self.invalidations += 1
  }

  /// The runs that do not answer for the last invalidation.
  var runsBeforeInvalidation: [Run] {
    self.runs.filter { $0.isShown && $0.invalidations < self.invalidations }
  }

  private mutating func change(_ change: Ledger<State>.Change, by owner: OperationTaskIdentifier?) {
    change.apply(to: &self.state)
    self.ledger?.note(change, by: owner)
  }
}

// MARK: - Runs

extension StoreMachine {
  mutating func depart(_ task: inout Task) {
    self.state.scheduleFetchTask(&task)
    let scheduled = task
    self.ledger?.editBase { base in
      var copy = scheduled
      base.scheduleFetchTask(&copy)
    }
    self.runs.append(Run(task: task, invalidations: self.invalidations))
    self.postState(task.context, run: task.id)
  }

  /// Takes back all that a run did.
  mutating func takeBack(_ id: OperationTaskIdentifier) {
    guard let index = self.runs.firstIndex(where: { $0.task.id == id }), self.runs[index].isShown else { return }
    self.runs[index].isShown = false
    let task = self.runs[index].task
    if let state = self.ledger?.takeBack(id) { self.state = state }
    self.finish(task)
    self.postState(task.context, run: id)
  }

  /// A run has returned.
  mutating func land(_ task: Task, with outcome: Result<State.OperationValue, State.Failure>, isCancelled: Bool) {
    let id = task.id
    if isCancelled { self.takeBack(id) }
    guard let index = self.runs.firstIndex(where: { $0.task.id == id }) else { return }
    let run = self.runs.remove(at: index)
    self.heldFlights.removeAll { $0.id == id }
    self.landingFlights.append(run.task.flight)
    if run.isShown {
      self.change(.reported(outcome, task), by: nil)
      self.ledger?.commit(id)
      self.finish(task)
      if case .success = outcome, self.state.isRefreshed(by: task) { self.answerInvalidations(upTo: run.invalidations) }
      self.postState(task.context, run: id)
      self.post(.resultReceived(outcome), task.context, run: id)
    }
    self.post(.runEnded, task.context, run: id)
  }

  private mutating func finish(_ task: Task) {
    self.state.finishFetchTask(task)
    self.ledger?.editBase { $0.finishFetchTask(task) }
    if self.ledger?.hasOwners == false { self.ledger = nil }
  }

  /// Goes back to the initial state, and returns the tasks that are to be cancelled.
  mutating func reset(using context: OperationContext) -> [Task] {
    let effect = self.state.reset(using: context)
    self.ledger = nil
    self.answeredInvalidations = self.invalidations
    for index in self.runs.indices { self.runs[index].isShown = false }
    self.postState(context, run: nil)
    let running = self.runs.map(\.task)
    return running + effect.tasksToCancel.filter { task in !running.contains { $0.id == task.id } }
  }
}

// MARK: - Layers

extension StoreMachine {
  /// What the store shows.
  var shownState: State { self.layeredState ?? self.state }

  /// What the layers make of the state. They are foreign code: not to be called under the lock.
  func stateBeneathLayers() -> State {
    var state = self.state
    for layer in self.layers { layer.apply(&state) }
    return state
  }

  /// Shows a state that ``stateBeneathLayers()`` has made, or the plain one when it is nil.
  mutating func show(_ layeredState: State?) {
    self.layeredState = layeredState
  }

  mutating func add(_ layer: StateLayer<State>) {
    guard !self.layers.contains(where: { $0.id == layer.id }) else { return }
    self.layers.append(layer)
    self.postState(self.context, run: nil)
  }

  mutating func remove(_ id: StateLayerIdentifier) {
    guard let index = self.layers.firstIndex(where: { $0.id == id }) else { return }
    self.layers.remove(at: index)
    self.postState(self.context, run: nil)
  }

  /// Makes what a layer shows part of the state.
  mutating func commit(_ layer: StateLayer<State>, _ committed: State) {
    guard let index = self.layers.firstIndex(where: { $0.id == layer.id }) else { return }
    self.layers.remove(at: index)
    self.state = committed
    self.ledger?.note(.edited(isSuccess: true, layer.apply), by: nil)
    self.postState(self.context, run: nil)
  }

  mutating func replaceWithNextInvalidation(_ id: StateLayerIdentifier) {
    guard let index = self.layers.firstIndex(where: { $0.id == id }) else { return }
    self.layers[index].replacingInvalidation = self.invalidations + 1
    // A draft that was made before does not know it.
    self.version += 1
  }

  /// Whether a value has come since that makes up for what a layer waits for.
  func isAnswered(_ layer: StateLayer<State>) -> Bool {
    layer.replacingInvalidation.map { $0 <= self.answeredInvalidations } ?? false
  }

  private mutating func answerInvalidations(upTo invalidation: Int) {
    self.answeredInvalidations = max(self.answeredInvalidations, invalidation)
    self.layers.removeAll { layer in layer.replacingInvalidation.map { $0 <= invalidation } ?? false }
  }
}

// MARK: - Events

extension StoreMachine {
  mutating func post(_ event: StoreEvent<State>, _ context: OperationContext, run: OperationTaskIdentifier?) {
    guard !self.subscribers.isEmpty else { return }
    let audience = Outbox<State>.Audience.everyone(before: self.subscribers.nextID)
    self.outbox.append(.item(.init(event: event, context: context, run: run, audience: audience)))
  }

  private mutating func postState(_ context: OperationContext, run: OperationTaskIdentifier?) {
    guard !self.subscribers.isEmpty else { return }
    self.post(.stateChanged(self.shownState), context, run: run)
  }

  /// The next delivery for one who is not delivering yet; nil when somebody is, or there is nothing.
  mutating func beginDelivery() -> Delivery<State>? {
    guard !self.outbox.isDelivering, !self.outbox.isEmpty else { return nil }
    self.outbox.isDelivering = true
    return self.nextDelivery()
  }

  /// The next delivery for the one who is delivering; nil ends that.
  mutating func nextDelivery() -> Delivery<State>? {
    if let entry = self.outbox.popFirst() {
      if case .dismissal(let subscriber) = entry { _ = self.subscribers.remove(subscriber) }
      return Delivery(entry: entry, slots: self.subscribers.slots)
    }
    self.outbox.isDelivering = false
    return nil
  }
}
