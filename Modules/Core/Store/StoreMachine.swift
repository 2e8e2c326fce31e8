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
