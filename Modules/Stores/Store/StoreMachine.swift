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

// MARK: - Idleness

extension StoreMachine {
  /// Whether the store has no subscribers, no runs, and no run that is reserved for subscribers.
  var isIdle: Bool { self.runs.isEmpty && self.subscribers.count == 0 && self.subscriberRuns.isEmpty }

  /// Determines which notifications have become due since the last call.
  ///
  /// The client is notified when the store becomes idle or stops being idle. Observers are notified when the store gets
  /// its first run or subscriber, or loses its last.
  ///
  /// - Parameters:
  ///   - isInClient: Whether the store is in a client.
  ///   - reading: The sequence number of this check; evaluated only when the client is notified.
  /// - Returns: The notifications; nil when none are due.
  mutating func reportActivity(isInClient: Bool, reading: @autoclosure () -> UInt32) -> StoreActivityChange? {
    let last = self.reportedActivity
    let now = (isIdle: self.isIdle, isRunning: !self.runs.isEmpty, hasSubscribers: self.subscribers.count > 0)
    self.reportedActivity = now
    let isForClient = isInClient && last.isIdle != now.isIdle
    let isForObservers =
      self.extras?.content.activityObservers.isEmpty == false
      && (last.isRunning != now.isRunning || last.hasSubscribers != now.hasSubscribers)
    guard isForClient || isForObservers else { return nil }
    return StoreActivityChange(
      idleness: isForClient ? StoreIdleness(isIdle: now.isIdle, reading: reading()) : nil,
      observers: isForObservers ? self.sortedActivityObservers : []
    )
  }
}

// MARK: - Rarely used state

/// Rarely used state of a ``StoreMachine``, stored out of line: stores that never need it are smaller.
///
/// A machine is a value, so its extras are copied on write: changed in place while one machine refers to them, and
/// copied otherwise.
final class StoreExtras: @unchecked Sendable {
  // Unchecked because only `uniqueExtras()` gives access for a change: one machine refers to the object then, and a
  // machine is changed under the lock of its store or by one thread. That also makes the accesses exclusive: checked,
  // they would take 670 of the 5,300 instructions of a yield.
  @exclusivity(unchecked) var content: Content

  init(_ content: Content = Content()) {
    self.content = content
  }

  struct Content: Sendable {
    var layers: [StateLayer] = []
    /// Actions to perform when exclusive access ends.
    var deferredActions: [@Sendable () -> Void] = []
    /// The last values that were replaced during exclusive access. They are released when it ends.
    var deferredReleases: [StoreMachine.ReplacedValues] = []
    /// Called after the store gets its first subscriber or run, and after it loses its last.
    var activityObservers: [UInt64: @Sendable () -> Void] = [:]
    /// The observers that were added to the store itself.
    var observers = StoreObservers()
    /// The number of the store's last invalidation; 0 before the first.
    var invalidations = 0
    /// The number of the last answered invalidation. A run that began after it, a set value or a reset answers it.
    var answeredInvalidations = 0
    /// The number of the last arrival of a value that was made before an invalidation of it; 0 before the first.
    var missedInvalidation = 0
    /// The record of the last invalidation.
    var invalidation: InvalidationRecord?
    /// Whether the operation must run again once the runs that began before the last invalidation have ended.
    var needsRerun = false
    /// Whether a run under way may be premature: see ``StoreMachine/Run/isPremature``.
    var hasPrematureRuns = false
    /// The condition that became true while these runs were under way.
    var prematurity: RunOrigin?
    /// Whether a run has ever reported an attempt or a pause.
    var hasReportedProgress = false
    /// The number of changes of the value that its count does not include: committed layers and rolled back runs.
    var uncountedChanges = 0
    /// How often the state was reset, which restarts its counts.
    var resets = 0

    /// The state with the layers applied, which the store shows; nil when there are no layers.
    var layeredState: (any StoredState)?
    /// Why the client has dropped the store, which may have other owners; nil if nothing observed it then.
    var evictionCause: OperationRunCause?
    /// The waits of runs under way for something other than a condition, by the numbers of the waits.
    var runWaits: [UInt64: RunWaitNote] = [:]
    /// The origin of a value that is a fallback or was restored; see ``StoreMachine/shownValueOrigin``.
    var valueOrigin: ValueOrigin?
    /// The next polls, by their timers.
    var polls: [ObjectIdentifier: PlannedPoll] = [:]
    /// The changes needed to roll back runs; nil while no change can be rolled back.
    var undoLog: UndoLog?

    init() {}
  }
}

extension StoreMachine {
  /// Returns the extras for a change: created if missing, and copied if another machine refers to them.
  mutating func uniqueExtras() -> StoreExtras {
    // Moved to a non-optional local, because the thread sanitizer recognizes the uniqueness check only for a
    // non-optional reference (Scripts/ThreadSanitizer).
    var extras = self.extras.take() ?? StoreExtras()
    if !isKnownUniquelyReferenced(&extras) { extras = StoreExtras(extras.content) }
    self.extras = extras
    return extras
  }

  var layers: [StateLayer] {
    get { self.extras?.content.layers ?? [] }
    _modify { yield &self.uniqueExtras().content.layers }
  }

  var hasLayers: Bool { self.extras?.content.layers.isEmpty == false }

  /// Whether a change may call layers, and therefore has to be prepared outside the lock.
  var callsLayers: Bool {
    guard let extras = self.extras else { return false }
    return !extras.content.layers.isEmpty || extras.content.undoLog?.hasLayers == true
  }

  var deferredActions: [@Sendable () -> Void] {
    get { self.extras?.content.deferredActions ?? [] }
    _modify { yield &self.uniqueExtras().content.deferredActions }
  }

  /// Removes and returns the actions to perform when exclusive access ends.
  mutating func takeDeferredActions() -> [@Sendable () -> Void] {
    if self.deferredActions.isEmpty { return [] }
    defer { self.deferredActions = [] }
    return self.deferredActions
  }

  var activityObservers: [UInt64: @Sendable () -> Void] {
    get { self.extras?.content.activityObservers ?? [:] }
    _modify { yield &self.uniqueExtras().content.activityObservers }
  }

  /// The activity observers in the order in which they were added.
  var sortedActivityObservers: [@Sendable () -> Void] {
    self.activityObservers.sorted { $0.key < $1.key }.map(\.value)
  }

  /// The number of the store's last invalidation; 0 before the first.
  var invalidations: Int {
    get { self.extras?.content.invalidations ?? 0 }
    _modify { yield &self.uniqueExtras().content.invalidations }
  }

  /// The number of the last invalidation that was answered.
  var answeredInvalidations: Int {
    get { self.extras?.content.answeredInvalidations ?? 0 }
    _modify { yield &self.uniqueExtras().content.answeredInvalidations }
  }

  var needsRerun: Bool {
    get { self.extras?.content.needsRerun ?? false }
    _modify { yield &self.uniqueExtras().content.needsRerun }
  }

  var hasPrematureRuns: Bool {
    get { self.extras?.content.hasPrematureRuns ?? false }
    _modify { yield &self.uniqueExtras().content.hasPrematureRuns }
  }

  var layeredState: (any StoredState)? {
    get { self.extras?.content.layeredState }
    _modify { yield &self.uniqueExtras().content.layeredState }
  }

  var undoLog: UndoLog? {
    get { self.extras?.content.undoLog }
    _modify { yield &self.uniqueExtras().content.undoLog }
  }

  var hasUndoLog: Bool { self.extras?.content.undoLog != nil }
}

// MARK: - What is released after the lock

extension StoreMachine {
  /// The objects that a change removes from a machine. They are released after unlocking, because deinitializers may be
  /// user code.
  ///
  /// Objects that nearly every change removes have places of their own, on the stack. As elements of the array, they
  /// would take allocations in each run.
  struct ReleasedValues: ~Copyable {
    /// The values and the errors before the change.
    var replaced: ReplacedValues?
    /// The task of a run: the run has ended, was reserved, or has another task now.
    var task: ErasedTask?
    /// The change in the undo log that a later change has replaced.
    var undoneChange: UndoLog.Change?
    private var others: [any Sendable] = []

    init() {}

    mutating func append(_ value: some Sendable) {
      self.others.append(value)
    }

    /// Keeps a copy of the undo log, so that no entry is destroyed under the lock.
    mutating func append(undoLogOf machine: borrowing StoreMachine) {
      if let undoLog = machine.undoLog { self.append(undoLog) }
    }
  }

  /// The values and the errors of the state and of the shown state.
  struct ReplacedValues: Sendable {
    private let values: RetainedValues
    private let shownValues: RetainedValues?

    init(of machine: borrowing StoreMachine) {
      self.values = machine.state.retainedValues
      self.shownValues = machine.layeredState?.retainedValues
    }
  }

  /// Keeps replaced values until exclusive access ends. At most four are kept: with more, returns the oldest.
  mutating func deferRelease(of replaced: ReplacedValues) -> ReplacedValues? {
    let extras = self.uniqueExtras()
    extras.content.deferredReleases.append(replaced)
    return extras.content.deferredReleases.count > 4 ? extras.content.deferredReleases.removeFirst() : nil
  }

  /// Removes and returns the values to release when exclusive access ends.
  mutating func takeDeferredReleases() -> [ReplacedValues] {
    // Without a second reference to the extras, by which they would be copied.
    if self.extras?.content.deferredReleases.isEmpty ?? true { return [] }
    let extras = self.uniqueExtras()
    defer { extras.content.deferredReleases = [] }
    return extras.content.deferredReleases
  }
}

extension StoreRuntime {
  /// Runs `body` on the machine with the lock held. Objects that `body` moves to its second parameter are released
  /// after unlocking.
  ///
  /// The values that this thread replaces during its exclusive access are kept until the access ends; at most the last
  /// four.
  @inline(__always)
  func withMachine<R>(_ body: (inout StoreMachine, inout StoreMachine.ReleasedValues) -> R) -> R {
    var released = StoreMachine.ReleasedValues()
    let result = self.withMachine { body(&$0, &released) }
    if self.lock.isOwnedByCurrentThread, let replaced = released.replaced {
      released.replaced = self.withMachine { $0.deferRelease(of: replaced) }
    }
    return result
  }
}
