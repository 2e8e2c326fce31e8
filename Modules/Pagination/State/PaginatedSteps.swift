public import OperationCore

/// What runs do to a state, compiled where its types are known.
///
/// A store changes states through a protocol. Code that does that for all types would look the types up at each step: a
/// page took 350 times an await in place of 160. Made of closures for the reason that ``PageOrder`` is.
@usableFromInline
final class PaginatedSteps<PageID: Hashable & Sendable, PageValue: Sendable, Failure: Error>: Sendable {
  @usableFromInline typealias State = PaginatedState<PageID, PageValue, Failure>

  let schedule: @Sendable (inout State, inout ErasedTask) -> Void
  let finish: @Sendable (inout State, ErasedTask) -> Void
  let report: @Sendable (inout State, RunOutcome, ErasedTask) -> Void
  let isReplaced: @Sendable (State, ErasedTask) -> Bool
  let retainedValues: @Sendable (State) -> RetainedValues

  @inlinable
  convenience init() {
    self.init { state, task in
      var typedTask = State.FetchTask(task)
      state.scheduleFetchTask(&typedTask)
      task = typedTask.erased
    } finish: { state, task in
      state.finishFetchTask(State.FetchTask(task))
    } report: { state, outcome, task in
      state.update(with: outcome.result(State.OperationValue.self, Failure.self), for: State.FetchTask(task))
    } isReplaced: { state, task in
      state.isRefreshed(by: State.FetchTask(task))
    } retainedValues: { state in
      // The root keeps all pages alive, and needs no memory of its own in an existential.
      RetainedValues(value: state.currentValue.entries.root, error: state.error)
    }
  }

  @usableFromInline
  init(
    schedule: @escaping @Sendable (inout State, inout ErasedTask) -> Void,
    finish: @escaping @Sendable (inout State, ErasedTask) -> Void,
    report: @escaping @Sendable (inout State, RunOutcome, ErasedTask) -> Void,
    isReplaced: @escaping @Sendable (State, ErasedTask) -> Bool,
    retainedValues: @escaping @Sendable (State) -> RetainedValues
  ) {
    self.schedule = schedule
    self.finish = finish
    self.report = report
    self.isReplaced = isReplaced
    self.retainedValues = retainedValues
  }
}

extension PaginatedState: StoredState {
  package static var traits: StateTraits { [] }

  package static var partwiseType: (any PartwiseReplacingState.Type)? { Self.self }

  package var retainedValues: RetainedValues { self.storage.content.steps.retainedValues(self) }

  package var stamp: ValueStamp {
    let content = self.storage.content
    if content.valueUpdateCount == 0 { return ValueStamp(content.currentValue.isEmpty ? .none : .initial) }
    return content.stamps.values.reduce(ValueStamp(.final)) { $0.combined(with: $1) }
  }

  package mutating func schedule(_ task: inout ErasedTask) {
    self.storage.content.steps.schedule(&self, &task)
  }

  package mutating func replace(_ task: ErasedTask) {
    self.updateFetchTask(FetchTask(task))
  }

  package mutating func finish(_ task: ErasedTask) {
    self.storage.content.steps.finish(&self, task)
  }

  package mutating func report(_ outcome: RunOutcome, of task: ErasedTask) {
    self.storage.content.steps.report(&self, outcome, task)
  }

  package mutating func set(_ outcome: RunOutcome, using context: OperationContext) {
    self.update(with: outcome.result(StateValue.self, Failure.self), using: context)
  }

  package func isReplaced(by task: ErasedTask) -> Bool { self.storage.content.steps.isReplaced(self, task) }

  package mutating func resetTasks(using context: OperationContext) -> [ErasedTask] {
    self.reset(using: context).tasksToCancel.map(\.erased)
  }
}
