/// The changes of a state since the first yield of a run that is under way, so that the run can be rolled back.
///
/// Rolling back a run replays all other changes on the base: the state before the first change in the log. A change
/// that can no longer be rolled back becomes part of the base as soon as no earlier change can be rolled back.
///
/// In a ``ReplacingState`` a result replaces the result before it. For such a state, the log keeps only the last value
/// and the last error of each run, and of all changes without an owner. Each of these entries has the number of results
/// that it stands for. The size of the log is therefore bounded by the number of runs, however often they yield.
struct UndoLog: Sendable {
  enum Change: Sendable {
    case set(RunOutcome, OperationContext)
    case reported(RunOutcome, ErasedTask)
    case edited(isSuccess: Bool, @Sendable (inout any StoredState) -> Void)
    /// A layer was committed. It is user code, so ``LayerResults`` calls it outside the lock.
    case layered(@Sendable (inout any StoredState) -> Void)

    var isSuccess: Bool {
      switch self {
      case .set(let outcome, _), .reported(let outcome, _): outcome.isSuccess
      case .edited(let isSuccess, _): isSuccess
      case .layered: true
      }
    }

    /// Whether the change is a result. Other changes are edits, with effects that may depend on the state before.
    var isResult: Bool {
      switch self {
      case .set, .reported: true
      case .edited, .layered: false
      }
    }

    /// The result that a run has reported, and its task; nil for another change.
    var report: (result: RunOutcome, task: ErasedTask)? {
      if case .reported(let result, let task) = self { (result, task) } else { nil }
    }

    func apply(to state: inout any StoredState, _ layers: LayerResults? = nil) {
      switch self {
      case .set(let result, let context): state.set(result, using: context)
      case .reported(let result, let task): state.report(result, of: task)
      case .edited(_, let edit): edit(&state)
      case .layered(let layer): if let layers { layers.apply(layer, to: &state) } else { layer(&state) }
      }
    }
  }

  struct Entry: Sendable {
    /// The run that made the change and can still be rolled back; nil when the change is permanent.
    var owner: OperationTaskIdentifier?
    var change: Change
    /// The number of results that the entry stands for.
    var times: Int
    /// The part of the state that the result replaces; nil when it is unknown.
    var part: Int?

    /// Whether the entry is a result of this owner and kind. The last of several such results can replace all of them.
    func isResult(of owner: OperationTaskIdentifier?, isSuccess: Bool) -> Bool {
      self.owner == owner && self.change.isSuccess == isSuccess && self.change.isResult
    }

    func apply(to state: inout any StoredState, _ layers: LayerResults? = nil) {
      for _ in 0..<self.times { self.change.apply(to: &state, layers) }
    }
  }

  /// The state before the first change in the log.
  private var base: any StoredState
  var entries: [Entry] = []
  /// Whether the state is a ``ReplacingState``, so that the last result can replace earlier ones.
  let mergesResults: Bool
  /// The type of the state if it is a ``PartwiseReplacingState``.
  private let partwiseType: (any PartwiseReplacingState.Type)?
  /// Whether a layer was ever recorded, so that a change may have to replay it.
  private(set) var hasLayers = false
  /// The results of layers for the change in progress, used instead of calling them; nil outside a change.
  var layerResults: LayerResults?

  init(base: any StoredState) {
    self.base = base
    self.mergesResults = type(of: base).traits.contains(.replacesResults)
    self.partwiseType = type(of: base).partwiseType
  }

  /// What the base has seen: everything until it was hidden, as its store could be found.
  private let baseEpoch = InvalidationEpoch.latest
  /// What the values since then have seen, by the runs that can still be rolled back; nil for all others.
  private var epochs: [OperationTaskIdentifier?: InvalidationEpoch] = [:]

  /// The number of entries.
  var count: Int { self.entries.count }

  /// Whether any change can be rolled back.
  var hasOwners: Bool { self.hasOwners(besides: nil) }

  /// Whether any change can be rolled back, not counting the changes of `run`.
  func hasOwners(besides run: OperationTaskIdentifier?) -> Bool {
    self.entries.contains { $0.owner != nil && $0.owner != run }
  }

  /// Replaces the last change if both are results of the same owner and kind.
  ///
  /// This is nearly always possible when a run yields repeatedly.
  ///
  /// - Parameters:
  ///   - change: The new change.
  ///   - owner: The run that made the new change; nil when the change cannot be rolled back.
  ///   - replaced: Receives the replaced change, for the caller to release after the lock.
  /// - Returns: False if nothing was replaced: the caller has to append the change then.
  mutating func replaceLast(
    with change: Change,
    by owner: OperationTaskIdentifier?,
    replaced: inout Change?
  ) -> Bool {
    let last = self.entries.count - 1
    guard self.mergesResults, change.isResult, last >= 0,
      self.entries[last].isResult(of: owner, isSuccess: change.isSuccess)
    else { return false }
    replaced = self.entries[last].change
    self.entries[last].change = change
    self.entries[last].times += 1
    return true
  }

  /// The last result that a run yielded; nil when it has yielded none or can no longer be rolled back.
  func lastYield(
    of owner: OperationTaskIdentifier
  ) -> (result: RunOutcome, task: ErasedTask)? {
    self.entries.last { $0.owner == owner && $0.change.report != nil }?.change.report
  }

  /// Appends a change, and drops the earlier ones that it replaces.
  mutating func append(_ change: Change, by owner: OperationTaskIdentifier?) {
    if case .layered = change { self.hasLayers = true }
    var entry = Entry(owner: owner, change: change, times: 1, part: self.part(of: change, by: owner))
    if let replaced = self.removeEntry(replacedBy: entry) { entry.times += replaced.times }
    self.entries.append(entry)
    self.mergeResults(of: owner, areSuccesses: change.isSuccess)
    self.moveSettledEntriesToBase()
  }

  /// The part of the state that a result replaces; nil when it is unknown. Each run numbers its own parts.
  private func part(of change: Change, by owner: OperationTaskIdentifier?) -> Int? {
    guard let partwiseType = self.partwiseType else { return nil }
    switch change {
    case .set: return .max
    case .reported(_, let task): return owner == nil ? nil : partwiseType.replacedPart(in: task.context)
    case .edited, .layered: return nil
    }
  }

  /// Removes and returns the entry that `new` replaces: a result of the same owner, part and kind.
  ///
  /// Returns nil if the owner's last entry is for another part, or if a later edit may depend on it.
  private mutating func removeEntry(replacedBy new: Entry) -> Entry? {
    guard let part = new.part else { return nil }
    for index in self.entries.indices.reversed() {
      let entry = self.entries[index]
      if !entry.change.isResult { return nil }
      if entry.owner != new.owner { continue }
      if entry.part != part { return nil }
      if entry.change.isSuccess == new.change.isSuccess { return self.entries.remove(at: index) }
    }
    return nil
  }

  /// What the values have seen that are left; of several, the least.
  var epoch: InvalidationEpoch { self.epochs.values.min() ?? self.baseEpoch }

  /// Notes what a value has seen.
  mutating func note(_ epoch: InvalidationEpoch, of owner: OperationTaskIdentifier?, isWhole: Bool) {
    self.epochs[owner] = isWhole ? epoch : min(epoch, self.epochs[owner] ?? self.baseEpoch)
  }

  /// Makes the changes of a run permanent.
  mutating func commit(_ owner: OperationTaskIdentifier) {
    if let epoch = self.epochs.removeValue(forKey: owner) { self.epochs[nil] = min(epoch, self.epochs[nil] ?? epoch) }
    for index in self.entries.indices where self.entries[index].owner == owner { self.entries[index].owner = nil }
    self.mergeResults(of: nil, areSuccesses: true)
    self.mergeResults(of: nil, areSuccesses: false)
    self.moveSettledEntriesToBase()
  }

  /// Removes the changes of a run and returns the state without them; nil when the run has changed nothing.
  mutating func rollBack(_ owner: OperationTaskIdentifier) -> (any StoredState)? {
    let count = self.entries.count
    self.entries.removeAll { $0.owner == owner }
    guard self.entries.count < count else { return nil }
    self.epochs[owner] = nil
    self.moveSettledEntriesToBase()
    var state = self.base
    for entry in self.entries { entry.apply(to: &state, self.layerResults) }
    return state
  }

  /// Edits the base. Tasks are added to and removed from it too, so that a replay shows the current ones.
  mutating func editBase(_ edit: (inout any StoredState) -> Void) {
    edit(&self.base)
  }

  /// Moves the permanent changes to the base, up to the first change that can still be rolled back.
  private mutating func moveSettledEntriesToBase() {
    let settled = self.entries.prefix { $0.owner == nil }
    guard !settled.isEmpty else { return }
    for entry in settled { entry.apply(to: &self.base, self.layerResults) }
    self.entries.removeFirst(settled.count)
  }

  /// Replaces all results of an owner and kind with the last one, which then stands for all of them.
  private mutating func mergeResults(of owner: OperationTaskIdentifier?, areSuccesses: Bool) {
    guard self.mergesResults else { return }
    func isMerged(_ entry: Entry) -> Bool { entry.isResult(of: owner, isSuccess: areSuccesses) }
    guard let last = self.entries.lastIndex(where: isMerged) else { return }
    self.entries[last].times = self.entries.reduce(0) { times, entry in times + (isMerged(entry) ? entry.times : 0) }
    let number = self.entries[last...].count
    let earlier = self.entries.dropLast(number).filter { !isMerged($0) }
    self.entries = earlier + self.entries.suffix(number)
  }
}
