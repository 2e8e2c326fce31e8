/// The changes of a state since the first yield of a run that is still going, so that the run can be taken back.
///
/// Taking a run back replays what everybody else has changed upon the state before. The ledger keeps, for each run and
/// for the rest of the world, the last value and the last error with how often they came, so it is bounded by the number
/// of runs however much they yield.
struct Ledger<State: OperationState & Sendable>: Sendable {
  typealias Task = OperationTask<State.OperationValue, State.Failure>

  enum Change: Sendable {
    case set(Result<State.StateValue, State.Failure>, OperationContext)
    case reported(Result<State.OperationValue, State.Failure>, Task)
    case edited(isSuccess: Bool, @Sendable (inout State) -> Void)

    var isSuccess: Bool {
      switch self {
      case .set(.success, _), .reported(.success, _), .edited(true, _): true
      case .set(.failure, _), .reported(.failure, _), .edited(false, _): false
      }
    }

    func apply(to state: inout State) {
      switch self {
      case .set(let result, let context): state.update(with: result, using: context)
      case .reported(let result, let task): state.update(with: result, for: task)
      case .edited(_, let edit): edit(&state)
      }
    }
  }

  private struct Entry: Sendable {
    /// The run that can still be taken back; nil for what stays.
    var owner: OperationTaskIdentifier?
    let change: Change
    var times: Int
  }

  private var base: State
  private var entries: [Entry] = []

  init(base: State) {
    self.base = base
  }

  /// Whether there is anything that could be taken back.
  var hasOwners: Bool { self.entries.contains { $0.owner != nil } }

  mutating func note(_ change: Change, by owner: OperationTaskIdentifier?) {
    var times = 1
    if let index = self.entries.firstIndex(where: { $0.owner == owner && $0.change.isSuccess == change.isSuccess }) {
      times += self.entries.remove(at: index).times
    }
    self.entries.append(Entry(owner: owner, change: change, times: times))
  }

  /// What a run has changed stays from now on.
  mutating func commit(_ owner: OperationTaskIdentifier) {
    for index in self.entries.indices where self.entries[index].owner == owner { self.entries[index].owner = nil }
  }

  /// The state without what a run has changed; nil when it has changed nothing.
  mutating func takeBack(_ owner: OperationTaskIdentifier) -> State? {
    let count = self.entries.count
    self.entries.removeAll { $0.owner == owner }
    guard self.entries.count < count else { return nil }
    var state = self.base
    for entry in self.entries {
      for _ in 0..<entry.times { entry.change.apply(to: &state) }
    }
    return state
  }

  /// Tasks come and go at the base as well, so that a replay shows the ones that are there.
  mutating func editBase(_ edit: (inout State) -> Void) {
    edit(&self.base)
  }
}
