/// The state of a store and its transitions. It calls nobody: what is to be done is returned, or put in the event queue.
@usableFromInline
struct StoreMachine<State: OperationState & Sendable>: Sendable {
  @usableFromInline typealias Task = OperationTask<State.OperationValue, State.Failure>
  @usableFromInline typealias StoreRun = SharedRun<State.OperationValue, State.Failure>

  /// A run between its start and its finish.
  @usableFromInline
  struct Run: Sendable {
    @usableFromInline let task: Task
    /// How often the store had been invalidated when the run began: it answers for no later invalidation.
    @usableFromInline let invalidations: Int
    /// False once the run was cancelled: nothing it does shows any more.
    @usableFromInline var isShown = true
    /// Whether what the operation needs has come to hold since the run began: it may fail for the want of that.
    @usableFromInline var isPremature = false
    /// Whether its work has begun, as far as those hear who share the run.
    @usableFromInline var hasStarted = false
    /// Whether it was cancelled before its work began, which is told to nobody.
    @usableFromInline var isSkipped = false

    @inlinable
    var id: OperationTaskIdentifier { self.task.sharedRun.id }

    @inlinable
    init(task: Task, invalidations: Int) {
      self.task = task
      self.invalidations = invalidations
    }
  }

  /// What the context of the store refers to; it is that of no event.
  @usableFromInline var contextStorage: OperationContext.Storage
  /// Grows with every change.
  @usableFromInline var version: UInt64 = 0
  @usableFromInline var runs: [Run] = []
  /// The tasks of runs that were decided on and have not begun.
  @usableFromInline var reservedTasks: [Task] = []
  /// The runs that have ended and of which not everybody has been told yet.
  @usableFromInline var finishingRuns: [StoreRun] = []
  /// The runs that the subscribers keep alive together.
  @usableFromInline var subscriberRuns: [StoreRun] = []
  @usableFromInline var subscribers = SubscriberTable<State>()
  @usableFromInline var eventQueue = EventQueue<State>()
  @usableFromInline var reportedActivity = (isIdle: true, isRunning: false, hasSubscribers: false)
  @usableFromInline var controllers: OperationSubscription?
  /// Whether the store is gone.
  @usableFromInline var isClosed = false
  /// Nil while there is none of what it is for, which is nearly always.
  @usableFromInline var extras: StoreExtras<State>?

  // What takes as much room as a state does comes last: the fields before are then at places that generic code knows.

  /// What runs and setters have made, beneath the layers.
  @usableFromInline var state: State

  @inlinable
  init(state: State, context: OperationContext) {
    self.state = state
    self.contextStorage = context.storage
  }

  /// The context that runs get.
  @inlinable
  var context: OperationContext {
    get { OperationContext(storage: self.contextStorage) }
    set { self.contextStorage = newValue.storage }
  }

  /// What of the user's a state holds, for those who have to outlast a change of it.
  @usableFromInline
  struct RetainedValues: Sendable {
    @usableFromInline let value: State.StateValue
    @usableFromInline let shownValue: State.StateValue?
    @usableFromInline let error: State.Failure?

    @inlinable
    init(of machine: StoreMachine) {
      self.value = machine.state.currentValue
      self.shownValue = machine.layeredState?.currentValue
      self.error = machine.state.error
    }
  }

  @inlinable
  var retainedValues: RetainedValues { RetainedValues(of: self) }

  @inlinable
  var isInvalidated: Bool { self.extras.map { $0.invalidations > $0.answeredInvalidations } ?? false }

  /// Whether nobody subscribes and nothing runs.
  @inlinable
  var isIdle: Bool { self.runs.isEmpty && self.subscribers.count == 0 && self.subscriberRuns.isEmpty }

  /// Who is to know that the store has become idle or stopped being so, or that runs or subscribers came or went; nil for
  /// nobody.
  ///
  /// - Parameter reading: Numbers a look at whether the store is idle.
  @inlinable
  mutating func reportActivity(isInClient: Bool, reading: @autoclosure () -> UInt32) -> StoreActivityChange? {
    let last = self.reportedActivity
    let now = (isIdle: self.isIdle, isRunning: !self.runs.isEmpty, hasSubscribers: self.subscribers.count > 0)
    self.reportedActivity = now
    let isForClient = isInClient && last.isIdle != now.isIdle
    let isForObservers =
      self.extras.map { !$0.activityObservers.isEmpty } ?? false
      && (last.isRunning != now.isRunning || last.hasSubscribers != now.hasSubscribers)
    guard isForClient || isForObservers else { return nil }
    return StoreActivityChange(
      idleness: isForClient ? StoreIdleness(isIdle: now.isIdle, reading: reading()) : nil,
      observers: isForObservers ? self.sortedActivityObservers : []
    )
  }

  @inlinable
  func isShown(_ id: OperationTaskIdentifier) -> Bool {
    self.index(ofRun: id).map { self.runs[$0].isShown } ?? false
  }

  @inlinable
  func index(ofRun id: OperationTaskIdentifier) -> Int? {
    // Nearly always there is one run, or the one that is looked for has come last.
    let last = self.runs.count - 1
    if last < 0 { return nil }
    return self.runs[last].id == id ? last : self.index(ofEarlierRun: id)
  }
}

// MARK: - Results

extension StoreMachine {
  /// Something outside any run has set a value or an error.
  @inlinable
  mutating func set(
    _ result: Result<State.StateValue, State.Failure>,
    using context: OperationContext
  ) -> StoreChange {
    self.state.update(with: result, using: context)
    self.note(.set(result, context), by: nil)
    if case .success = result { self.answerInvalidations() }
    return StoreChange(isStateNew: true)
  }

  /// A controller has set a value or an error.
  mutating func edit(
    isSuccess: Bool,
    using context: OperationContext,
    _ edit: @escaping @Sendable (inout State) -> Void
  ) -> StoreChange {
    edit(&self.state)
    self.note(.edited(isSuccess: isSuccess, edit), by: nil)
    if isSuccess { self.answerInvalidations() }
    return StoreChange(isStateNew: true)
  }

  /// A run has yielded, which shows unless the run was cancelled.
  ///
  /// - Parameter replaced: Gets what the undo log drops, which is released after the lock.
  @inlinable
  mutating func yield(
    _ result: Result<State.OperationValue, State.Failure>,
    of task: Task,
    using context: OperationContext,
    replaced: inout UndoLog<State>.Change?
  ) -> StoreChange {
    guard self.isShown(task.id) else { return StoreChange() }
    if !State.undoesYields, !self.hasUndoLog { self.undoLog = UndoLog(base: self.state) }
    self.state.update(with: result, for: task)
    let change = UndoLog<State>.Change.reported(result, task)
    if self.undoLog?.replaceLast(with: change, by: task.id, replaced: &replaced) == false {
      self.append(change, by: task.id)
    }
    return StoreChange(isStateNew: true, bringsResult: true)
  }

  /// Notes a change in the undo log, if there is one.
  @inlinable
  mutating func note(_ change: @autoclosure () -> UndoLog<State>.Change, by owner: OperationTaskIdentifier?) {
    if self.hasUndoLog { self.append(change(), by: owner) }
  }

  @usableFromInline
  mutating func append(_ change: UndoLog<State>.Change, by owner: OperationTaskIdentifier?) {
    // A change may stand for earlier ones, which go then.
    if self.undoLog?.entries.isEmpty == false { self.releaseUndoLog() }
    self.undoLog?.append(change, by: owner)
  }
}

// MARK: - Runs

extension StoreMachine {
  @inlinable
  mutating func start(_ task: inout Task, reservation: inout Task?) -> StoreChange {
    let sharedRun = task.sharedRun
    self.state.scheduleFetchTask(&task)
    // It may edit the task, not put another in its place.
    if task.sharedRun !== sharedRun { task = Task(sharedRun: sharedRun, context: task.context) }
    if self.hasUndoLog { self.noteStart(of: task) }
    if !self.reservedTasks.isEmpty { reservation = self.removeReservation(of: task.id) }
    self.runs.append(Run(task: task, invalidations: self.invalidations))
    return StoreChange(isStateNew: true)
  }

  @usableFromInline
  mutating func noteStart(of task: Task) {
    self.undoLog?.editBase { base in
      var copy = task
      base.scheduleFetchTask(&copy)
    }
  }

  /// Takes out the task of a run that was decided on, if there is one. The caller releases it after the lock.
  @inlinable
  mutating func removeReservation(of id: OperationTaskIdentifier) -> Task? {
    for index in self.reservedTasks.indices where self.reservedTasks[index].id == id {
      return self.reservedTasks.remove(at: index)
    }
    return nil
  }

  /// Takes back all that a run did.
  @inlinable
  mutating func rollBack(_ id: OperationTaskIdentifier) -> StoreChange {
    guard let index = self.index(ofRun: id), self.runs[index].isShown else { return StoreChange() }
    self.runs[index].isShown = false
    let task = self.runs[index].task
    if self.hasUndoLog { self.rollBackChanges(of: id) }
    self.removeTask(task)
    return StoreChange(isStateNew: true)
  }

  @usableFromInline
  mutating func rollBackChanges(of id: OperationTaskIdentifier) {
    self.releaseUndoLog()
    if let state = self.undoLog?.rollBack(id) { self.state = state }
  }

  /// A run has ended.
  ///
  /// - Parameters:
  ///   - hidesOutdatedRuns: Whether older runs are hidden when the run answers an invalidation.
  ///   - removed: Gets what is kept of the run, which is released after the lock.
  @inlinable
  mutating func finish(
    _ task: Task,
    with outcome: Result<State.OperationValue, State.Failure>,
    isCancelled: Bool,
    hidesOutdatedRuns: Bool,
    removed: inout Run?
  ) -> StoreChange {
    let id = task.id
    var isStateNew = false
    if isCancelled {
      isStateNew = self.index(ofRun: id).map { self.runs[$0].isShown } ?? false
      _ = self.rollBack(id)
    }
    guard let index = self.index(ofRun: id) else { return StoreChange() }
    let (isShown, isSkipped) = (self.runs[index].isShown, self.runs[index].isSkipped)
    let invalidations = self.runs[index].invalidations
    removed = index == self.runs.count - 1 ? self.runs.removeLast() : self.runs.remove(at: index)
    if !self.subscriberRuns.isEmpty { self.subscriberRuns.removeAll { $0.id == id } }
    self.finishingRuns.append(task.sharedRun)
    guard isShown else { return StoreChange(isStateNew: isStateNew, lifecycle: isSkipped ? nil : .ended) }
    self.state.update(with: outcome, for: task)
    if self.hasUndoLog { self.noteFinish(of: task, with: outcome) }
    self.removeTask(task)
    if case .success = outcome, self.state.isRefreshed(by: task) {
      self.answerInvalidations(upTo: invalidations)
      if hidesOutdatedRuns { self.hideOutdatedRuns() }
    }
    return StoreChange(isStateNew: true, bringsResult: true, lifecycle: .ended)
  }

  @usableFromInline
  mutating func noteFinish(of task: Task, with outcome: Result<State.OperationValue, State.Failure>) {
    self.releaseUndoLog()
    // Nothing is left that could be taken back, so nobody will ask for the state before it.
    if self.undoLog?.hasOwners(besides: task.id) == false {
      self.undoLog = nil
      return
    }
    self.undoLog?.append(.reported(outcome, task), by: nil)
    self.undoLog?.commit(task.id)
  }

  @inlinable
  mutating func removeTask(_ task: Task) {
    self.state.finishFetchTask(task)
    if self.hasUndoLog { self.noteEnd(of: task) }
  }

  @usableFromInline
  mutating func noteEnd(of task: Task) {
    self.releaseUndoLog()
    self.undoLog?.editBase { $0.finishFetchTask(task) }
    if self.undoLog?.hasOwners == false { self.undoLog = nil }
  }

  /// All have been told of the end of a run.
  @inlinable
  mutating func forgetFinishing(of id: OperationTaskIdentifier) {
    if self.finishingRuns.count == 1, self.finishingRuns[0].id == id {
      self.finishingRuns.removeLast()
    } else {
      self.finishingRuns.removeAll { $0.id == id }
    }
  }

  /// Goes back to the initial state, and returns the tasks that are to be cancelled.
  @inlinable
  mutating func reset(using context: OperationContext) -> (change: StoreChange, tasks: [Task]) {
    let effect = self.state.reset(using: context)
    if self.hasUndoLog {
      self.releaseUndoLog()
      self.undoLog = nil
    }
    self.answerInvalidations()
    for index in self.runs.indices { self.runs[index].isShown = false }
    let running = self.runs.map { $0.task }
    let others = effect.tasksToCancel.filter { task in !running.contains { $0.id == task.id } }
    return (StoreChange(isStateNew: true), running + others)
  }
}

// MARK: - Events

extension StoreMachine {
  /// Those who are to hear of a change, from the one who has made it; nil when nobody listens, or others deliver, in which
  /// case the change wait for them.
  @inlinable
  mutating func recipients(
    of change: StoreChange,
    result: Result<State.OperationValue, State.Failure>?,
    _ context: @autoclosure () -> OperationContext,
    run: OperationTaskIdentifier?,
    addressee: Subscriber<State>? = nil,
    mayDeliver: Bool
  ) -> Recipients<State>? {
    if self.subscribers.isEmpty || change.isEmpty { return nil }
    guard mayDeliver, self.eventQueue.isEmpty, !self.eventQueue.isDelivering else {
      self.queue(change, result: result, context(), run: run, addressee: addressee)
      return nil
    }
    self.eventQueue.isDelivering = true
    return Recipients(slots: self.subscribers.slots, limit: self.subscribers.nextID, addressee: addressee)
  }

  /// Lets change wait in the event queue.
  @usableFromInline
  mutating func queue(
    _ change: StoreChange,
    result: Result<State.OperationValue, State.Failure>?,
    _ context: OperationContext,
    run: OperationTaskIdentifier?,
    addressee: Subscriber<State>? = nil
  ) {
    if self.subscribers.isEmpty || change.isEmpty { return }
    let event = QueuedEvent(
      state: change.isStateNew ? self.shownState : nil,
      result: change.bringsResult ? result : nil,
      lifecycle: change.lifecycle,
      context: context,
      run: run,
      limit: self.subscribers.nextID,
      addressee: addressee
    )
    self.eventQueue.append(.event(event))
  }

  /// The next delivery for one who is not delivering yet; nil when somebody is, or there is nothing.
  mutating func beginDelivery() -> Delivery<State>? {
    guard !self.eventQueue.isDelivering, !self.eventQueue.isEmpty else { return nil }
    self.eventQueue.isDelivering = true
    return self.nextDelivery()
  }

  /// Ends the delivering, unless there is more to hand over.
  @inlinable
  mutating func endDelivery() -> Bool {
    guard self.eventQueue.isEmpty else { return false }
    self.eventQueue.isDelivering = false
    return true
  }

  /// The next delivery for the one who is delivering; nil ends that.
  mutating func nextDelivery() -> Delivery<State>? {
    if let entry = self.eventQueue.popFirst() {
      if case .dismissal(let subscriber) = entry { _ = self.subscribers.remove(subscriber) }
      return Delivery(entry: entry, slots: self.subscribers.slots)
    }
    self.eventQueue.isDelivering = false
    return nil
  }
}
