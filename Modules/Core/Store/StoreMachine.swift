/// The state of a store and its transitions. It calls nobody: what is to be done is returned, or put in the outbox.
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
  @usableFromInline var outbox = Outbox<State>()
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
  struct Holdings: Sendable {
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
  var holdings: Holdings { Holdings(of: self) }

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
  mutating func reportActivity(isKept: Bool, reading: @autoclosure () -> UInt32) -> StoreActivityNews? {
    let last = self.reportedActivity
    let now = (isIdle: self.isIdle, isRunning: !self.runs.isEmpty, hasSubscribers: self.subscribers.count > 0)
    self.reportedActivity = now
    let isForKeeper = isKept && last.isIdle != now.isIdle
    let isForObservers =
      self.extras.map { !$0.activityObservers.isEmpty } ?? false
      && (last.isRunning != now.isRunning || last.hasSubscribers != now.hasSubscribers)
    guard isForKeeper || isForObservers else { return nil }
    return StoreActivityNews(
      idleness: isForKeeper ? StoreIdleness(isIdle: now.isIdle, reading: reading()) : nil,
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
  ) -> StoreNews {
    self.state.update(with: result, using: context)
    self.note(.set(result, context), by: nil)
    if case .success = result { self.answerInvalidations() }
    return StoreNews(isStateNew: true)
  }

  /// A controller has set a value or an error.
  mutating func edit(
    isSuccess: Bool,
    using context: OperationContext,
    _ edit: @escaping @Sendable (inout State) -> Void
  ) -> StoreNews {
    edit(&self.state)
    self.note(.edited(isSuccess: isSuccess, edit), by: nil)
    if isSuccess { self.answerInvalidations() }
    return StoreNews(isStateNew: true)
  }

  /// A run has yielded, which shows unless the run was cancelled.
  ///
  /// - Parameter replaced: Gets what the ledger drops, which is released after the lock.
  @inlinable
  mutating func yield(
    _ result: Result<State.OperationValue, State.Failure>,
    of task: Task,
    using context: OperationContext,
    replaced: inout Ledger<State>.Change?
  ) -> StoreNews {
    guard self.isShown(task.id) else { return StoreNews() }
    if !State.undoesYields, !self.hasLedger { self.ledger = Ledger(base: self.state) }
    self.state.update(with: result, for: task)
    let change = Ledger<State>.Change.reported(result, task)
    if self.ledger?.replaceLast(with: change, by: task.id, replaced: &replaced) == false {
      self.append(change, by: task.id)
    }
    return StoreNews(isStateNew: true, bringsResult: true)
  }

  /// Notes a change in the ledger, if there is one.
  @inlinable
  mutating func note(_ change: @autoclosure () -> Ledger<State>.Change, by owner: OperationTaskIdentifier?) {
    if self.hasLedger { self.append(change(), by: owner) }
  }

  @usableFromInline
  mutating func append(_ change: Ledger<State>.Change, by owner: OperationTaskIdentifier?) {
    // A change may stand for earlier ones, which go then.
    if self.ledger?.entries.isEmpty == false { self.releaseLedger() }
    self.ledger?.append(change, by: owner)
  }
}

// MARK: - Runs

extension StoreMachine {
  @inlinable
  mutating func start(_ task: inout Task, reservation: inout Task?) -> StoreNews {
    let sharedRun = task.sharedRun
    self.state.scheduleFetchTask(&task)
    // It may edit the task, not put another in its place.
    if task.sharedRun !== sharedRun { task = Task(sharedRun: sharedRun, context: task.context) }
    if self.hasLedger { self.noteStart(of: task) }
    if !self.reservedTasks.isEmpty { reservation = self.removeReservation(of: task.id) }
    self.runs.append(Run(task: task, invalidations: self.invalidations))
    return StoreNews(isStateNew: true)
  }

  @usableFromInline
  mutating func noteStart(of task: Task) {
    self.ledger?.editBase { base in
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
  mutating func takeBack(_ id: OperationTaskIdentifier) -> StoreNews {
    guard let index = self.index(ofRun: id), self.runs[index].isShown else { return StoreNews() }
    self.runs[index].isShown = false
    let task = self.runs[index].task
    if self.hasLedger { self.takeBackChanges(of: id) }
    self.removeTask(task)
    return StoreNews(isStateNew: true)
  }

  @usableFromInline
  mutating func takeBackChanges(of id: OperationTaskIdentifier) {
    self.releaseLedger()
    if let state = self.ledger?.takeBack(id) { self.state = state }
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
  ) -> StoreNews {
    let id = task.id
    var isStateNew = false
    if isCancelled {
      isStateNew = self.index(ofRun: id).map { self.runs[$0].isShown } ?? false
      _ = self.takeBack(id)
    }
    guard let index = self.index(ofRun: id) else { return StoreNews() }
    let (isShown, isSkipped) = (self.runs[index].isShown, self.runs[index].isSkipped)
    let invalidations = self.runs[index].invalidations
    removed = index == self.runs.count - 1 ? self.runs.removeLast() : self.runs.remove(at: index)
    if !self.subscriberRuns.isEmpty { self.subscriberRuns.removeAll { $0.id == id } }
    self.finishingRuns.append(task.sharedRun)
    guard isShown else { return StoreNews(isStateNew: isStateNew, turn: isSkipped ? nil : .ended) }
    self.state.update(with: outcome, for: task)
    if self.hasLedger { self.noteFinish(of: task, with: outcome) }
    self.removeTask(task)
    if case .success = outcome, self.state.isRefreshed(by: task) {
      self.answerInvalidations(upTo: invalidations)
      if hidesOutdatedRuns { self.hideOutdatedRuns() }
    }
    return StoreNews(isStateNew: true, bringsResult: true, turn: .ended)
  }

  @usableFromInline
  mutating func noteFinish(of task: Task, with outcome: Result<State.OperationValue, State.Failure>) {
    self.releaseLedger()
    // Nothing is left that could be taken back, so nobody will ask for the state before it.
    if self.ledger?.hasOwners(besides: task.id) == false {
      self.ledger = nil
      return
    }
    self.ledger?.append(.reported(outcome, task), by: nil)
    self.ledger?.commit(task.id)
  }

  @inlinable
  mutating func removeTask(_ task: Task) {
    self.state.finishFetchTask(task)
    if self.hasLedger { self.noteEnd(of: task) }
  }

  @usableFromInline
  mutating func noteEnd(of task: Task) {
    self.releaseLedger()
    self.ledger?.editBase { $0.finishFetchTask(task) }
    if self.ledger?.hasOwners == false { self.ledger = nil }
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
  mutating func reset(using context: OperationContext) -> (news: StoreNews, tasks: [Task]) {
    let effect = self.state.reset(using: context)
    if self.hasLedger {
      self.releaseLedger()
      self.ledger = nil
    }
    self.answerInvalidations()
    for index in self.runs.indices { self.runs[index].isShown = false }
    let running = self.runs.map { $0.task }
    let others = effect.tasksToCancel.filter { task in !running.contains { $0.id == task.id } }
    return (StoreNews(isStateNew: true), running + others)
  }
}

// MARK: - Events

extension StoreMachine {
  /// Those who are to hear of a change, from the one who has made it; nil when nobody listens, or others deliver, in which
  /// case the news wait for them.
  @inlinable
  mutating func audience(
    of news: StoreNews,
    result: Result<State.OperationValue, State.Failure>?,
    _ context: @autoclosure () -> OperationContext,
    run: OperationTaskIdentifier?,
    addressee: Subscriber<State>? = nil,
    mayDeliver: Bool
  ) -> Audience<State>? {
    if self.subscribers.isEmpty || news.isEmpty { return nil }
    guard mayDeliver, self.outbox.isEmpty, !self.outbox.isDelivering else {
      self.queue(news, result: result, context(), run: run, addressee: addressee)
      return nil
    }
    self.outbox.isDelivering = true
    return Audience(slots: self.subscribers.slots, limit: self.subscribers.nextID, addressee: addressee)
  }

  /// Lets news wait in the outbox.
  @usableFromInline
  mutating func queue(
    _ news: StoreNews,
    result: Result<State.OperationValue, State.Failure>?,
    _ context: OperationContext,
    run: OperationTaskIdentifier?,
    addressee: Subscriber<State>? = nil
  ) {
    if self.subscribers.isEmpty || news.isEmpty { return }
    let announcement = Announcement(
      state: news.isStateNew ? self.shownState : nil,
      result: news.bringsResult ? result : nil,
      turn: news.turn,
      context: context,
      run: run,
      limit: self.subscribers.nextID,
      addressee: addressee
    )
    self.outbox.append(.announcement(announcement))
  }

  /// The next delivery for one who is not delivering yet; nil when somebody is, or there is nothing.
  mutating func beginDelivery() -> Delivery<State>? {
    guard !self.outbox.isDelivering, !self.outbox.isEmpty else { return nil }
    self.outbox.isDelivering = true
    return self.nextDelivery()
  }

  /// Ends the delivering, unless there is more to hand over.
  @inlinable
  mutating func endDelivery() -> Bool {
    guard self.outbox.isEmpty else { return false }
    self.outbox.isDelivering = false
    return true
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
