/// What of a machine is seldom there: it lies apart, so that the stores that never need it are smaller.
///
/// It is changed in place while one machine refers to it, and copied otherwise, as machines are values.
@usableFromInline
final class StoreExtras<State: OperationState & Sendable>: @unchecked Sendable {
  // Unchecked because it is only changed while nobody else refers to it, which also makes the accesses exclusive.
  @exclusivity(unchecked) @usableFromInline var layers: [StateLayer<State>] = []
  /// What is to be done once exclusive access ends.
  @exclusivity(unchecked) @usableFromInline var deferredActions: [@Sendable () -> Void] = []
  /// What was replaced last during exclusive access, to be released when that ends.
  @exclusivity(unchecked) @usableFromInline var deferredReleases: [StoreMachine<State>.RetainedValues] = []
  /// Who wants to know that the first subscriber came or the last one left.
  @exclusivity(unchecked) @usableFromInline var activityObservers: [UInt64: @Sendable () -> Void] = [:]
  @exclusivity(unchecked) @usableFromInline var invalidations = 0
  @exclusivity(unchecked) @usableFromInline var answeredInvalidations = 0
  /// Whether the operation is to be run again when the runs that began before the last invalidation have ended.
  @exclusivity(unchecked) @usableFromInline var owesRerun = false
  /// Whether a run that is under way may be premature.
  @exclusivity(unchecked) @usableFromInline var hasPrematureRuns = false
  /// What the store shows: the state with the layers over it; nil when there are none.
  @exclusivity(unchecked) @usableFromInline var layeredState: State?
  @exclusivity(unchecked) @usableFromInline var undoLog: UndoLog<State>?
  /// What has left the machine and may run user code when it goes: it is released after the lock.
  @exclusivity(unchecked) @usableFromInline var released: [any Sendable] = []

  @usableFromInline
  init() {}

  @usableFromInline
  init(copying other: StoreExtras) {
    self.layers = other.layers
    self.deferredActions = other.deferredActions
    self.deferredReleases = other.deferredReleases
    self.activityObservers = other.activityObservers
    self.invalidations = other.invalidations
    self.answeredInvalidations = other.answeredInvalidations
    self.owesRerun = other.owesRerun
    self.hasPrematureRuns = other.hasPrematureRuns
    self.layeredState = other.layeredState
    self.undoLog = other.undoLog
    self.released = other.released
  }
}

extension StoreMachine {
  /// The extras, for a change.
  @inlinable
  mutating func uniqueExtras() -> StoreExtras<State> {
    // Taken out, as the thread sanitizer knows the check for one who may not be absent (Scripts/ThreadSanitizer).
    var extras = self.extras.take() ?? StoreExtras()
    if !isKnownUniquelyReferenced(&extras) { extras = StoreExtras(copying: extras) }
    self.extras = extras
    return extras
  }

  @inlinable
  var layers: [StateLayer<State>] {
    get { self.extras?.layers ?? [] }
    _modify { yield &self.uniqueExtras().layers }
  }

  @inlinable
  var hasLayers: Bool { self.extras.map { !$0.layers.isEmpty } ?? false }

  /// Whether a change may have to call layers, which is done outside the lock.
  @inlinable
  var callsLayers: Bool { self.extras.map { !$0.layers.isEmpty || $0.undoLog?.hasLayers == true } ?? false }

  @inlinable
  var deferredActions: [@Sendable () -> Void] {
    get { self.extras?.deferredActions ?? [] }
    _modify { yield &self.uniqueExtras().deferredActions }
  }

  /// Takes what was to be done once exclusive access ends.
  mutating func takeDeferredActions() -> [@Sendable () -> Void] {
    if self.deferredActions.isEmpty { return [] }
    defer { self.deferredActions = [] }
    return self.deferredActions
  }

  /// Keeps what was replaced until exclusive access ends, and returns what is released before.
  mutating func deferRelease(of replaced: RetainedValues) -> RetainedValues? {
    let extras = self.uniqueExtras()
    extras.deferredReleases.append(replaced)
    return extras.deferredReleases.count > 4 ? extras.deferredReleases.removeFirst() : nil
  }

  mutating func takeDeferredReleases() -> [RetainedValues] {
    guard let extras = self.extras, !extras.deferredReleases.isEmpty else { return [] }
    let unique = self.uniqueExtras()
    defer { unique.deferredReleases = [] }
    return unique.deferredReleases
  }

  @inlinable
  var activityObservers: [UInt64: @Sendable () -> Void] {
    get { self.extras?.activityObservers ?? [:] }
    _modify { yield &self.uniqueExtras().activityObservers }
  }

  // Not inlined: seldom are there any.
  @usableFromInline var sortedActivityObservers: [@Sendable () -> Void] {
    self.activityObservers.sorted { $0.key < $1.key }.map(\.value)
  }

  /// How often the store was invalidated.
  @inlinable
  var invalidations: Int {
    get { self.extras?.invalidations ?? 0 }
    _modify { yield &self.uniqueExtras().invalidations }
  }

  /// The last invalidation that a value has answered.
  @inlinable
  var answeredInvalidations: Int {
    get { self.extras?.answeredInvalidations ?? 0 }
    _modify { yield &self.uniqueExtras().answeredInvalidations }
  }

  @inlinable
  var owesRerun: Bool {
    get { self.extras?.owesRerun ?? false }
    _modify { yield &self.uniqueExtras().owesRerun }
  }

  @inlinable
  var hasPrematureRuns: Bool {
    get { self.extras?.hasPrematureRuns ?? false }
    _modify { yield &self.uniqueExtras().hasPrematureRuns }
  }

  @inlinable
  var layeredState: State? {
    get { self.extras?.layeredState }
    _modify { yield &self.uniqueExtras().layeredState }
  }

  @inlinable
  var undoLog: UndoLog<State>? {
    get { self.extras?.undoLog }
    _modify { yield &self.uniqueExtras().undoLog }
  }

  @inlinable
  var hasUndoLog: Bool { self.extras.map { $0.undoLog != nil } ?? false }

  /// Keeps what leaves the machine until the lock is free.
  @usableFromInline
  mutating func release(_ value: some Sendable) {
    self.uniqueExtras().released.append(value)
  }

  /// Lets the undo log go, or be changed by what drops some of it.
  @usableFromInline
  mutating func releaseUndoLog() {
    if let undoLog = self.undoLog { self.release(undoLog) }
  }

  /// Takes what is to be released after the lock.
  @usableFromInline
  mutating func takeReleased() -> [any Sendable] {
    guard let extras = self.extras, !extras.released.isEmpty else { return [] }
    let unique = self.uniqueExtras()
    defer { unique.released = [] }
    return unique.released
  }
}
