/// The state of a store and its transitions.
///
/// A transition performs no side effects: it returns them, or puts events in the event queue.
@usableFromInline
struct StoreMachine<State: OperationState & Sendable>: Sendable {
  @usableFromInline typealias StoreTask = OperationTask<State.OperationValue, State.Failure>
  @usableFromInline typealias StoreRun = SharedRun<State.OperationValue, State.Failure>

  /// A run between its start and its finish.
  @usableFromInline
  struct Run: Sendable {
    /// The task of the run. Its context contains the attempt that the run is in.
    @usableFromInline var task: StoreTask
    /// The number of the store's last invalidation when the run began. The run does not answer later invalidations.
    @usableFromInline let invalidations: Int
    /// Whether its results affect the state: true until the run is rolled back or the state is reset.
    @usableFromInline var isShown = true
    /// Whether a condition of the operation became true only after the run began. A failure may cause a rerun.
    @usableFromInline var isPremature = false
    /// Whether its work has begun. A handler that joins the run later is notified of the start when it joins.
    @usableFromInline var hasStarted = false
    /// Whether it was cancelled before its work began. Subscribers are then not notified of its end.
    @usableFromInline var isSkipped = false

    @inlinable
    var id: OperationTaskIdentifier { self.task.sharedRun.id }

    @inlinable
    init(task: StoreTask, invalidations: Int) {
      self.task = task
      self.invalidations = invalidations
    }
  }

  /// The storage of the store's context, which has no entries of an event.
  @usableFromInline var contextStorage: OperationContext.Storage
  /// Incremented by each change of the state or its layers, to detect outdated drafts.
  @usableFromInline var version: UInt64 = 0
  /// The runs between their start and their finish, in the order in which they started.
  @usableFromInline var runs: [Run] = []
  /// The tasks of runs that are about to start. Callers can join them already.
  @usableFromInline var reservedTasks: [StoreTask] = []
  /// The runs that have ended and for which not all notifications have been sent.
  @usableFromInline var finishingRuns: [StoreRun] = []
  /// The runs that the subscribers own together: the last subscriber to leave gives them up.
  @usableFromInline var subscriberRuns: [StoreRun] = []
  @usableFromInline var subscribers = SubscriberTable<State>()
  @usableFromInline var eventQueue = EventQueue<State>()
  /// The activity at the last call of ``reportActivity(isInClient:reading:)``.
  @usableFromInline var reportedActivity = (isIdle: true, isRunning: false, hasSubscribers: false)
  /// Cancelled when the store is released: the subscriptions of controllers, probes and other dependents.
  @usableFromInline var controllers: OperationSubscription?
  /// Whether the store has been released.
  @usableFromInline var isClosed = false
  /// Rarely used state; nil until it is first needed.
  @usableFromInline var extras: StoreExtras<State>?

  // Last, because its size depends on the type: generic code knows the offsets of the fields before it.

  /// The state that runs and setters have produced, without layers.
  @usableFromInline var state: State

  @inlinable
  init(state: State, context: OperationContext) {
    self.state = state
    self.contextStorage = context.storage
  }

  /// The context that runs receive.
  @inlinable
  var context: OperationContext {
    get { OperationContext(storage: self.contextStorage) }
    set { self.contextStorage = newValue.storage }
  }

  /// The values and the error of a state, retained so that a change does not destroy them under the lock.
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

  /// Whether the last invalidation has not been answered.
  @inlinable
  var isInvalidated: Bool {
    guard let extras = self.extras else { return false }
    return extras.content.invalidations > extras.content.answeredInvalidations
  }

  /// Whether a run is under way and its results affect the state.
  @inlinable
  func isShown(_ id: OperationTaskIdentifier) -> Bool {
    self.index(ofRun: id).map { self.runs[$0].isShown } ?? false
  }

  /// The index of a run; nil when it is not under way.
  @inlinable
  func index(ofRun id: OperationTaskIdentifier) -> Int? {
    // Nearly always the store has one run, or the newest run is the one searched for.
    let last = self.runs.count - 1
    if last < 0 { return nil }
    return self.runs[last].id == id ? last : self.index(ofEarlierRun: id)
  }
}
