/// The changes of a state since the first yield of a run that is still going, so that the run can be taken back.
///
/// Taking a run back replays what everybody else has changed upon the state before. What nobody can take back any more
/// becomes part of that state as soon as nothing before it can be taken back either. Where a result replaces the one
/// before it, the undo log keeps, for each run and for the rest of the world, the last value and the last error with how
/// often they came: so it is bounded by the number of runs however much they yield.
@usableFromInline
struct UndoLog<State: OperationState & Sendable>: Sendable {
  @usableFromInline typealias Task = OperationTask<State.OperationValue, State.Failure>

  @usableFromInline
  enum Change: Sendable {
    case set(Result<State.StateValue, State.Failure>, OperationContext)
    case reported(Result<State.OperationValue, State.Failure>, Task)
    case edited(isSuccess: Bool, @Sendable (inout State) -> Void)
    /// A layer has become part of the value. It is user code, which only ``LayerResults`` call.
    case layered(@Sendable (inout State) -> Void)

    @inlinable
    var isSuccess: Bool {
      switch self {
      case .set(.success, _), .reported(.success, _), .edited(true, _), .layered: true
      case .set(.failure, _), .reported(.failure, _), .edited(false, _): false
      }
    }

    /// Whether it is a result, as opposed to an edit, which may build on what was there.
    @inlinable
    var isResult: Bool {
      switch self {
      case .set, .reported: true
      case .edited, .layered: false
      }
    }

    func apply(to state: inout State, _ layers: LayerResults<State>? = nil) {
      switch self {
      case .set(let result, let context): state.update(with: result, using: context)
      case .reported(let result, let task): state.update(with: result, for: task)
      case .edited(_, let edit): edit(&state)
      case .layered(let layer): if let layers { layers.apply(layer, to: &state) } else { layer(&state) }
      }
    }
  }

  @usableFromInline
  struct Entry: Sendable {
    /// The run that can still be taken back; nil for what stays.
    @usableFromInline var owner: OperationTaskIdentifier?
    @usableFromInline var change: Change
    @usableFromInline var times: Int
    /// The part of the state that the result replaces, where it does not replace all.
    var part: Int?

    /// Whether the last of several such results stands for all of them.
    @inlinable
    func isResult(of owner: OperationTaskIdentifier?, isSuccess: Bool) -> Bool {
      self.owner == owner && self.change.isSuccess == isSuccess && self.change.isResult
    }

    func apply(to state: inout State, _ layers: LayerResults<State>? = nil) {
      for _ in 0..<self.times { self.change.apply(to: &state, layers) }
    }
  }

  private var base: State
  @usableFromInline var entries: [Entry] = []
  @usableFromInline let mergesResults: Bool
  private let partwiseType: (any PartwiseReplacingState.Type)?
  /// Whether layers have become part of the value, so that a change may replay them.
  @usableFromInline private(set) var hasLayers = false
  /// What layers make of states, for the change that is being made.
  var layerResults: LayerResults<State>?

  @usableFromInline
  init(base: State) {
    self.base = base
    self.mergesResults = State.self is any ReplacingState.Type
    self.partwiseType = State.self as? any PartwiseReplacingState.Type
  }

  /// How many changes it keeps.
  var count: Int { self.entries.count }

  /// Whether there is anything that could be taken back.
  @usableFromInline var hasOwners: Bool { self.hasOwners(besides: nil) }

  /// Whether there is anything that could be taken back, besides what one run has changed.
  @usableFromInline
  func hasOwners(besides run: OperationTaskIdentifier?) -> Bool {
    self.entries.contains { $0.owner != nil && $0.owner != run }
  }

  /// Replaces the last change where the new one stands for both, as nearly always when a run yields after its own last yield.
  ///
  /// - Parameter replaced: Gets the last change, which is released after the lock. Stays nil where the change is to be appended.
  @inlinable
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

  /// What a run yielded last, if it still can be taken back.
  func lastYield(
    of owner: OperationTaskIdentifier
  ) -> (result: Result<State.OperationValue, State.Failure>, task: Task)? {
    for entry in self.entries.reversed() where entry.owner == owner {
      if case .reported(let result, let task) = entry.change { return (result, task) }
    }
    return nil
  }

  @usableFromInline
  mutating func append(_ change: Change, by owner: OperationTaskIdentifier?) {
    if case .layered = change { self.hasLayers = true }
    var entry = Entry(owner: owner, change: change, times: 1, part: self.part(of: change, by: owner))
    if let replaced = self.removeEntry(replacedBy: entry) { entry.times += replaced.times }
    self.entries.append(entry)
    self.mergeResults(of: owner, areSuccesses: change.isSuccess)
    self.settleFirstEntries()
  }

  /// The part of the state that a result replaces; nil where that is not known, as parts are told apart for one run only.
  private func part(of change: Change, by owner: OperationTaskIdentifier?) -> Int? {
    guard let partwiseType = self.partwiseType else { return nil }
    switch change {
    case .set: return .max
    case .reported(_, let task): return owner == nil ? nil : partwiseType.replacedPart(in: task.context)
    case .edited, .layered: return nil
    }
  }

  /// Removes the entry for which a new one stands as well: the last of its owner, if that is for the same part and no edit
  /// has come since, which may build on it.
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

  /// What a run has changed stays from now on.
  @usableFromInline
  mutating func commit(_ owner: OperationTaskIdentifier) {
    for index in self.entries.indices where self.entries[index].owner == owner { self.entries[index].owner = nil }
    self.mergeResults(of: nil, areSuccesses: true)
    self.mergeResults(of: nil, areSuccesses: false)
    self.settleFirstEntries()
  }

  /// The state without what a run has changed; nil when it has changed nothing.
  @usableFromInline
  mutating func rollBack(_ owner: OperationTaskIdentifier) -> State? {
    let count = self.entries.count
    self.entries.removeAll { $0.owner == owner }
    guard self.entries.count < count else { return nil }
    self.settleFirstEntries()
    var state = self.base
    for entry in self.entries { entry.apply(to: &state, self.layerResults) }
    return state
  }

  /// Tasks come and go at the base as well, so that a replay shows the ones that are there.
  @usableFromInline
  mutating func editBase(_ edit: (inout State) -> Void) {
    edit(&self.base)
  }

  /// Makes those changes part of the base that stay, up to the first that may be taken back.
  private mutating func settleFirstEntries() {
    let settled = self.entries.prefix { $0.owner == nil }
    guard !settled.isEmpty else { return }
    for entry in settled { entry.apply(to: &self.base, self.layerResults) }
    self.entries.removeFirst(settled.count)
  }

  /// Lets the last of several results stand for all of them.
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

/// A state in which a result replaces the one before it, so that of several the last one matters and how many there were.
protocol ReplacingState: OperationState {}

extension QueryState: ReplacingState {}

extension DefaultOperationState: ReplacingState where Base: ReplacingState {}

/// A state of parts, in which a result of a run replaces the one before it for the same part.
package protocol PartwiseReplacingState: OperationState, Sendable {
  /// The part that a run with this context brings a result for now; nil where one result does not replace another.
  static func replacedPart(in context: OperationContext) -> Int?
}

extension DefaultOperationState: PartwiseReplacingState where Base: PartwiseReplacingState {
  package static func replacedPart(in context: OperationContext) -> Int? { Base.replacedPart(in: context) }
}
