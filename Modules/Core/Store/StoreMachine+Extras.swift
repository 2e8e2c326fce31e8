/// Rarely used state of a ``StoreMachine``, stored out of line: stores that never need it are smaller.
///
/// A machine is a value, so its extras are copied on write: changed in place while one machine refers to them, and
/// copied otherwise.
@usableFromInline
final class StoreExtras<State: OperationState & Sendable>: @unchecked Sendable {
  // Unchecked because only `uniqueExtras()` gives access for a change: one machine refers to the object then, and a
  // machine is changed under the lock of its store or by one thread. That also makes the accesses exclusive: checked,
  // they would take 670 of the 5,300 instructions of a yield.
  @exclusivity(unchecked) @usableFromInline var content: Content

  @inlinable
  init(_ content: Content = Content()) {
    self.content = content
  }

  @usableFromInline
  struct Content: Sendable {
    @usableFromInline var layers: [StateLayer<State>] = []
    /// Actions to perform when exclusive access ends.
    @usableFromInline var deferredActions: [@Sendable () -> Void] = []
    /// Values that were last replaced during exclusive access, released when that ends.
    @usableFromInline var deferredReleases: [StoreMachine<State>.RetainedValues] = []
    /// Called after the store gets its first subscriber or run, and after it loses its last.
    @usableFromInline var activityObservers: [UInt64: @Sendable () -> Void] = [:]
    /// The number of the store's last invalidation; 0 before the first.
    @usableFromInline var invalidations = 0
    /// The number of the last invalidation that was answered: by a run that began after it, a set value or a reset.
    @usableFromInline var answeredInvalidations = 0
    /// Whether the operation must run again once the runs that began before the last invalidation have ended.
    @usableFromInline var needsRerun = false
    /// Whether a run under way may be premature: see ``StoreMachine/Run/isPremature``.
    @usableFromInline var hasPrematureRuns = false
    /// Whether a run has ever reported an attempt or a pause.
    @usableFromInline var hasReportedProgress = false
    /// The number of changes of the value that its count does not show: committed layers and rolled back runs.
    @usableFromInline var uncountedChanges = 0
    /// Values removed from the machine, released after the lock because their deinitializers may be user code.
    @usableFromInline var released: [any Sendable] = []

    // Last, because their sizes depend on the type: generic code knows the offsets of the fields before them.

    /// The state with the layers applied, which the store shows; nil when there are no layers.
    @usableFromInline var layeredState: State?
    /// The changes needed to roll back runs; nil while no change can be rolled back.
    @usableFromInline var undoLog: UndoLog<State>?

    @inlinable
    init() {}
  }
}

extension StoreMachine {
  /// Returns the extras for a change: created if missing, and copied if another machine refers to them.
  @inlinable
  mutating func uniqueExtras() -> StoreExtras<State> {
    // Moved to a non-optional local: the thread sanitizer knows the uniqueness check of a non-optional reference only
    // (Scripts/ThreadSanitizer).
    var extras = self.extras.take() ?? StoreExtras()
    if !isKnownUniquelyReferenced(&extras) { extras = StoreExtras(extras.content) }
    self.extras = extras
    return extras
  }

  @inlinable
  var layers: [StateLayer<State>] {
    get { self.extras?.content.layers ?? [] }
    _modify { yield &self.uniqueExtras().content.layers }
  }

  @inlinable
  var hasLayers: Bool { self.extras?.content.layers.isEmpty == false }

  /// Whether a change may call layers, and therefore has to be prepared outside the lock.
  @inlinable
  var callsLayers: Bool {
    guard let extras = self.extras else { return false }
    return !extras.content.layers.isEmpty || extras.content.undoLog?.hasLayers == true
  }

  @inlinable
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

  /// Keeps replaced values until exclusive access ends. At most four are kept: beyond that, returns the oldest.
  mutating func deferRelease(of replaced: RetainedValues) -> RetainedValues? {
    let extras = self.uniqueExtras()
    extras.content.deferredReleases.append(replaced)
    return extras.content.deferredReleases.count > 4 ? extras.content.deferredReleases.removeFirst() : nil
  }

  /// Removes and returns the values to release when exclusive access ends.
  mutating func takeDeferredReleases() -> [RetainedValues] {
    guard let extras = self.extras, !extras.content.deferredReleases.isEmpty else { return [] }
    let unique = self.uniqueExtras()
    defer { unique.content.deferredReleases = [] }
    return unique.content.deferredReleases
  }

  @inlinable
  var activityObservers: [UInt64: @Sendable () -> Void] {
    get { self.extras?.content.activityObservers ?? [:] }
    _modify { yield &self.uniqueExtras().content.activityObservers }
  }

  /// The activity observers in the order in which they were added.
  // Not inlined: few stores have observers.
  @usableFromInline var sortedActivityObservers: [@Sendable () -> Void] {
    self.activityObservers.sorted { $0.key < $1.key }.map(\.value)
  }

  /// The number of the store's last invalidation; 0 before the first.
  @inlinable
  var invalidations: Int {
    get { self.extras?.content.invalidations ?? 0 }
    _modify { yield &self.uniqueExtras().content.invalidations }
  }

  /// The number of the last invalidation that was answered.
  @inlinable
  var answeredInvalidations: Int {
    get { self.extras?.content.answeredInvalidations ?? 0 }
    _modify { yield &self.uniqueExtras().content.answeredInvalidations }
  }

  @inlinable
  var needsRerun: Bool {
    get { self.extras?.content.needsRerun ?? false }
    _modify { yield &self.uniqueExtras().content.needsRerun }
  }

  @inlinable
  var hasPrematureRuns: Bool {
    get { self.extras?.content.hasPrematureRuns ?? false }
    _modify { yield &self.uniqueExtras().content.hasPrematureRuns }
  }

  @inlinable
  var layeredState: State? {
    get { self.extras?.content.layeredState }
    _modify { yield &self.uniqueExtras().content.layeredState }
  }

  @inlinable
  var undoLog: UndoLog<State>? {
    get { self.extras?.content.undoLog }
    _modify { yield &self.uniqueExtras().content.undoLog }
  }

  @inlinable
  var hasUndoLog: Bool { self.extras?.content.undoLog != nil }

  /// Keeps a value that is removed from the machine until the lock has been released.
  @usableFromInline
  mutating func release(_ value: some Sendable) {
    self.uniqueExtras().content.released.append(value)
  }

  /// Keeps a copy of the undo log until the lock has been released, so that no entry is destroyed under the lock.
  @usableFromInline
  mutating func releaseUndoLog() {
    if let undoLog = self.undoLog { self.release(undoLog) }
  }

  /// Removes and returns the values to release after the lock.
  @usableFromInline
  mutating func takeReleased() -> [any Sendable] {
    guard let extras = self.extras, !extras.content.released.isEmpty else { return [] }
    let unique = self.uniqueExtras()
    defer { unique.content.released = [] }
    return unique.content.released
  }
}
