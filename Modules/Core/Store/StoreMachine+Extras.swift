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
