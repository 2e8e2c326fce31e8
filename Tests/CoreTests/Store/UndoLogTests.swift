import FoundationEssentials
import OperationTesting
import TestFixtures
import Testing

@testable import OperationClients
@testable import OperationStores

@Suite(.bounded) struct UndoLogTests {
  @Test func `A rollback undoes the changes of one run and leaves the others`() {
    var model = UndoLogModel(QueryState<Int, any Error>(initialValue: 0))
    let (one, other) = (model.run(), model.run())
    model.yield(.success(1), by: one)
    model.yield(.success(2), by: other)
    model.set(.success(3))
    model.yield(.failure(Refused(code: 4)), by: one)
    model.rollBack(one)
    expect(model.state.currentValue, equals: 3)
    expect(model.state.valueUpdateCount, equals: 2)
    #expect(model.state.error == nil)
    expect(model.state.errorUpdateCount, equals: 0)
    model.rollBack(other)
    expect(model.state.currentValue, equals: 3)
    expect(model.state.valueUpdateCount, equals: 1)
  }

  @Test func `A run that changed nothing has nothing to roll back`() {
    var undoLog = UndoLog(base: QueryState<Int, any Error>())
    let task = OperationTask<Int, any Error> { _, _ in 1 }
    #expect(!undoLog.hasOwners)
    expectNothing(undoLog.rollBack(task.id))
    undoLog.note(.reported(RunSuccess(1), task.erased), by: task.id)
    #expect(undoLog.hasOwners)
    undoLog.commit(task.id)
    #expect(!undoLog.hasOwners)
    expectNothing(undoLog.rollBack(task.id))
  }

  private func expectNothing(_ state: (any StoredState)?, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(state == nil, sourceLocation: sourceLocation)
  }

  @Test func `Edits that build on each other are kept`() {
    var model = UndoLogModel(QueryState<Int, any Error>(initialValue: 0))
    let run = model.run()
    model.yield(.success(100), by: run)
    model.set(.success(1))
    model.edit { $0.replaceValue(with: ($0.currentValue ?? 0) + 10) }
    model.edit { $0.replaceValue(with: ($0.currentValue ?? 0) * 2) }
    model.rollBack(run)
    expect(model.state.currentValue, equals: 22)
    expect(model.state.valueUpdateCount, equals: 1)
  }

  @Test func `Every result is kept where one does not replace another`() {
    var model = UndoLogModel(ListState())
    let run = model.run()
    model.yield(.success(1), by: run)
    model.set(.success([2]))
    model.report(.success(3))
    model.report(.success(4))
    model.rollBack(run)
    expect(model.state.currentValue, equals: [2, 3, 4])
  }

  @Test func `The runs under way bound the log`() {
    var model = UndoLogModel(QueryState<Int, any Error>())
    let run = model.run()
    for value in 0..<200 {
      model.yield(.success(value), by: run)
      model.yield(.failure(Refused(code: value)), by: run)
      model.set(.success(value))
      model.set(.failure(Refused(code: value)))
      let other = model.run()
      model.yield(.success(-value), by: other)
      if value.isMultiple(of: 2) { model.commit(other) } else { model.rollBack(other) }
      #expect(model.undoLog.count <= 6)
    }
  }

  @Test func `The log is bounded when a run yields once and goes on`() {
    var model = UndoLogModel(QueryState<Int, any Error>())
    let run = model.run()
    model.yield(.success(1), by: run)
    for value in 0..<200 {
      let other = model.run()
      model.yield(.success(value), by: other)
      model.yield(.failure(Refused()), by: other)
      model.report(.success(value), by: other)
      model.commit(other)
      #expect(model.undoLog.count <= 3)
    }
    model.rollBack(run)
    expect(model.state.valueUpdateCount, equals: 400)
    expect(model.state.currentValue, equals: 199)
  }

  @Test func `Edits after the last change that can be rolled back are not kept`() {
    var model = UndoLogModel(QueryState<Int, any Error>(initialValue: 0))
    let run = model.run()
    for _ in 0..<100 {
      model.yield(.success(1), by: run)
      model.edit { $0.replaceValue(with: ($0.currentValue ?? 0) + 1) }
    }
    #expect(model.undoLog.count <= 2)
    model.rollBack(run)
    expect(model.state.currentValue, equals: 100)
    expect(model.undoLog.count, equals: 0)
  }
}

// MARK: - Against the full list

extension UndoLogTests {
  @Test(arguments: 1...40 as ClosedRange<UInt64>) func `The log replays the same as the full list`(seed: UInt64) {
    UndoLogModel(QueryState<Int, any Error>(initialValue: 0)).perform(seed: seed) { state in
      var summary = Summary(state)
      summary.value = "\(state.currentValue ?? -1)"
      return summary
    } edit: { state, number in
      state.replaceValue(with: (state.currentValue ?? 0) + number)
    }
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>) func `The log replays under a default value`(seed: UInt64) {
    let initial = DefaultOperationState(QueryState<Int, any Error>(), defaultValue: 7)
    UndoLogModel(initial).perform(seed: seed) { state in
      Summary(state)
    } edit: { state, number in
      state.replaceValue(with: state.currentValue + number)
    }
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>) func `The log replays a state that collects values`(seed: UInt64) {
    UndoLogModel(ListState()).perform(seed: seed) { state in
      Summary(state)
    } edit: { state, number in
      state.currentValue.append(-number)
    }
  }
}

/// The parts of a state that must be the same.
private struct Summary: Equatable {
  var value: String
  let (valueUpdateCount, errorUpdateCount): (Int, Int)
  let (valueLastUpdatedAt, errorLastUpdatedAt): (Date?, Date?)
  let error: String?
  let isLoading: Bool

  init(_ state: some OperationState) {
    self.value = "\(state.currentValue)"
    self.valueUpdateCount = state.valueUpdateCount
    self.errorUpdateCount = state.errorUpdateCount
    self.valueLastUpdatedAt = state.valueLastUpdatedAt
    self.errorLastUpdatedAt = state.errorLastUpdatedAt
    self.error = state.error.map { "\($0)" }
    self.isLoading = state.isLoading
  }
}

/// A state, its undo log, and the full list of its changes.
private struct UndoLogModel<State: OperationState & Sendable> where State.OperationValue == Int {
  typealias StoreTask = OperationTask<Int, State.Failure>
  typealias Change = UndoLog.Change

  private(set) var state: State
  private(set) var undoLog: UndoLog
  private var base: State
  private var list: [(owner: OperationTaskIdentifier?, change: Change)] = []
  private let clock = ManualClock()

  init(_ state: State) {
    self.state = state
    self.base = state
    self.undoLog = UndoLog(base: state.stored)
  }

  /// Contexts with a date each.
  private func context() -> OperationContext {
    self.clock.advance(by: .seconds(1))
    var context = OperationContext()
    context.operationClock = self.clock.frozen()
    return context
  }

  /// A run that has started.
  mutating func run() -> StoreTask {
    var task = StoreTask(context: self.context()) { _, _ throws(State.Failure) -> Int in 0 }
    self.state.scheduleFetchTask(&task)
    self.editBase { [task] state in
      var task = task
      state.scheduleFetchTask(&task)
    }
    return task
  }

  private mutating func editBase(_ edit: (inout State) -> Void) {
    self.undoLog.editBase { $0.edit(as: State.self, edit) }
    edit(&self.base)
  }

  private mutating func note(_ change: Change, by owner: OperationTaskIdentifier?) {
    self.apply(change, to: &self.state)
    self.undoLog.note(change, by: owner)
    self.list.append((owner, change))
  }

  mutating func yield(_ result: Result<Int, State.Failure>, by task: StoreTask) {
    var task = task
    task.context = self.context()
    self.note(.reported(RunOutcome.of(result), task.erased), by: task.id)
  }

  /// The outcome of a run, which stays.
  mutating func report(_ result: Result<Int, State.Failure>, by task: StoreTask? = nil) {
    var task = task ?? StoreTask { _, _ throws(State.Failure) -> Int in 0 }
    task.context = self.context()
    self.note(.reported(RunOutcome.of(result), task.erased), by: nil)
  }

  mutating func set(_ result: Result<State.StateValue, State.Failure>) {
    self.note(.set(RunOutcome.of(result), self.context()), by: nil)
  }

  mutating func edit(_ edit: @escaping @Sendable (inout State) -> Void) {
    self.note(.edited(isSuccess: true) { $0.edit(as: State.self, edit) }, by: nil)
  }

  mutating func commit(_ task: StoreTask) {
    self.undoLog.commit(task.id)
    for index in self.list.indices where self.list[index].owner == task.id { self.list[index].owner = nil }
    self.finish(task)
  }

  mutating func rollBack(_ task: StoreTask) {
    if let state = self.undoLog.rollBack(task.id) { self.state = state.value(as: State.self) }
    self.list.removeAll { $0.owner == task.id }
    self.finish(task)
  }

  private mutating func finish(_ task: StoreTask) {
    self.state.finishFetchTask(task)
    self.editBase { $0.finishFetchTask(task) }
  }

  private func apply(_ change: Change, to state: inout State) {
    var stored = state.stored
    change.apply(to: &stored)
    state = stored.value(as: State.self)
  }

  /// The base with all changes of the list.
  private var replayed: State {
    var state = self.base
    for (_, change) in self.list { self.apply(change, to: &state) }
    return state
  }
}

extension UndoLogModel where State.Failure == any Error {
  /// Makes random changes, by several runs and by setters, and compares the states after each rollback.
  consuming func perform(
    seed: UInt64,
    summary: (State) -> Summary,
    edit: @escaping @Sendable (inout State, Int) -> Void
  ) {
    var generator = SeededGenerator(seed: seed)
    var runs: [StoreTask] = []
    for number in 1...400 {
      let result: Result<Int, any Error> =
        Int.random(in: 0..<3, using: &generator) > 0 ? .success(number) : .failure(Refused(code: number))
      switch Int.random(in: 0..<12, using: &generator) {
      case 0 where runs.count < 5: runs.append(self.run())
      case 1...4:
        if let run = runs.randomElement(using: &generator) { self.yield(result, by: run) }
      case 5: self.set(result.map { _ in self.state.currentValue })
      case 6: self.report(result)
      case 7: self.edit { edit(&$0, number) }
      case 8:
        guard !runs.isEmpty else { continue }
        let run = runs.remove(at: Int.random(in: runs.indices, using: &generator))
        self.report(result, by: run)
        self.commit(run)
      case 9, 10:
        guard !runs.isEmpty else { continue }
        let run = runs.remove(at: Int.random(in: runs.indices, using: &generator))
        self.rollBack(run)
        expect(summary(self.state), equals: summary(self.replayed))
        expect(self.undoLog.hasOwners, equals: self.list.contains { $0.owner != nil })
      default: continue
      }
    }
    while let run = runs.popLast() {
      self.rollBack(run)
      expect(summary(self.state), equals: summary(self.replayed))
    }
    #expect(!self.undoLog.hasOwners)
    expect(self.undoLog.count, equals: 0)
  }
}

/// A state that collects the values of runs.
private struct ListState: OperationState, Sendable {
  typealias OperationValue = Int
  typealias Failure = any Error

  var currentValue: [Int] = []
  var initialValue: [Int] { [] }
  private(set) var valueUpdateCount = 0
  private(set) var valueLastUpdatedAt: Date?
  private(set) var error: (any Error)?
  private(set) var errorUpdateCount = 0
  private(set) var errorLastUpdatedAt: Date?
  private var tasks: Set<OperationTaskIdentifier> = []

  var isLoading: Bool { !self.tasks.isEmpty }

  mutating func scheduleFetchTask(_ task: inout OperationTask<Int, any Error>) {
    self.tasks.insert(task.id)
  }

  mutating func finishFetchTask(_ task: OperationTask<Int, any Error>) {
    self.tasks.remove(task.id)
  }

  mutating func reset(using context: OperationContext) -> ResetEffect {
    self = ListState()
    return ResetEffect()
  }

  mutating func update(with result: Result<[Int], any Error>, using context: OperationContext) {
    self.take(result, at: context.operationClock.now())
  }

  mutating func update(with result: Result<Int, any Error>, for task: OperationTask<Int, any Error>) {
    self.take(result.map { self.currentValue + [$0] }, at: task.context.operationClock.now())
  }

  private mutating func take(_ result: Result<[Int], any Error>, at date: Date) {
    switch result {
    case .success(let value):
      (self.currentValue, self.error) = (value, nil)
      (self.valueUpdateCount, self.valueLastUpdatedAt) = (self.valueUpdateCount + 1, date)
    case .failure(let error):
      self.error = error
      (self.errorUpdateCount, self.errorLastUpdatedAt) = (self.errorUpdateCount + 1, date)
    }
  }
}

extension UndoLog {
  /// Notes a change as a store does.
  fileprivate mutating func note(_ change: Change, by owner: OperationTaskIdentifier?) {
    var replaced: Change?
    if !self.replaceLast(with: change, by: owner, replaced: &replaced) { self.append(change, by: owner) }
  }
}
