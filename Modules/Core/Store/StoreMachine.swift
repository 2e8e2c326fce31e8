/// The state of a store and its transitions.
///
/// A transition performs no side effects: it returns them, or puts events in the event queue. The machine is not
/// copyable, so the compiler never copies it. A change that calls user code is tried on a ``draft()``.
struct StoreMachine: ~Copyable, Sendable {
  typealias Activity = (isIdle: Bool, isRunning: Bool, hasSubscribers: Bool)

  /// The storage of the store's context, which has no entries of an event.
  var contextStorage: OperationContext.Storage
  /// Incremented by each change of the state or its layers, to detect outdated drafts.
  var version: UInt64 = 0
  /// The runs between their start and their finish, in the order in which they started.
  var runs: [Run] = []
  /// The tasks of runs that are about to start. Callers can join them already.
  var reservedTasks: [ErasedTask] = []
  /// The ended runs with notifications that were not sent yet.
  var finishingRuns: [SharedRun] = []
  /// The runs that the subscribers own together: the last subscriber to leave gives them up.
  var subscriberRuns: [SharedRun] = []
  var subscribers = SubscriberTable()
  var eventQueue = EventQueue()
  /// The activity at the last call of ``reportActivity(isInClient:reading:)``.
  var reportedActivity: Activity = (isIdle: true, isRunning: false, hasSubscribers: false)
  /// Cancelled when the store is released: the subscriptions of controllers, probes and other dependents.
  var controllers: OperationSubscription?
  /// Whether the store has been released.
  var isClosed = false
  /// Rarely used state; nil until it is first needed.
  var extras: StoreExtras?
  /// What the run of the value had seen when it began, or the client when the value was set: see ``noteEpoch(_:)``.
  var valueEpoch = InvalidationEpoch.latest

  /// The state that runs and setters have produced, without layers.
  var state: any StoredState

  init(state: any StoredState, context: OperationContext) {
    self.state = state
    self.contextStorage = context.storage
  }

  private init(copying other: borrowing StoreMachine) {
    self.contextStorage = other.contextStorage
    self.version = other.version
    self.runs = other.runs
    self.reservedTasks = other.reservedTasks
    self.finishingRuns = other.finishingRuns
    self.subscriberRuns = other.subscriberRuns
    self.subscribers = other.subscribers
    self.eventQueue = other.eventQueue
    self.reportedActivity = other.reportedActivity
    self.controllers = other.controllers
    self.isClosed = other.isClosed
    self.extras = other.extras
    self.valueEpoch = other.valueEpoch
    self.state = other.state
  }

  /// A copy, for trying a change without the lock.
  func draft() -> StoreMachine { StoreMachine(copying: self) }

  /// The context that runs receive.
  var context: OperationContext {
    get { OperationContext(storage: self.contextStorage) }
    set { self.contextStorage = newValue.storage }
  }

  /// Whether the last invalidation has not been answered.
  var isInvalidated: Bool {
    guard let extras = self.extras else { return false }
    return extras.content.invalidations > extras.content.answeredInvalidations
  }

  /// Whether a run is under way and its results affect the state.
  func isShown(_ id: OperationTaskIdentifier) -> Bool {
    self.index(ofRun: id).map { self.runs[$0].isShown } ?? false
  }

  /// The index of a run; nil when it is not under way.
  func index(ofRun id: OperationTaskIdentifier) -> Int? {
    // Nearly always the store has only one run, or the newest run is searched for.
    let last = self.runs.count - 1
    if last < 0 { return nil }
    return self.runs[last].id == id ? last : self.index(ofEarlierRun: id)
  }
}
