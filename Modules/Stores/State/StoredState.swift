/// The state of an operation as its store keeps it, without its type.
///
/// A store changes and compares states through this protocol, so that its code is compiled once for all operations.
/// A state that conforms to it receives the outcomes of runs without their types. ``StateBox`` conforms for all other
/// states.
package protocol StoredState: Sendable {
  /// The settings by which the store treats states of this type.
  static var traits: StateTraits { get }

  /// The type of the state if it is a ``PartwiseReplacingState``.
  static var partwiseType: (any PartwiseReplacingState.Type)? { get }

  /// The state with its type.
  var typed: any OperationState & Sendable { get }

  var isLoading: Bool { get }

  /// What is known of the value.
  var stamp: ValueStamp { get }

  /// Changes what is known of the value of a run, which stays as it is. Does nothing by default.
  mutating func restamp(_ stamp: ValueStamp)

  /// The value and the error.
  var retainedValues: RetainedValues { get }

  mutating func schedule(_ task: inout ErasedTask)
  mutating func replace(_ task: ErasedTask)
  mutating func finish(_ task: ErasedTask)

  /// Sets a result of a run, which has the types `OperationValue` and `Failure` of the state.
  mutating func report(_ outcome: RunOutcome, of task: ErasedTask)

  /// If the value has this number of updates, dates it anew and forgets the error, without an update of the value.
  ///
  /// - Returns: Whether it was done. False by default.
  mutating func renewValue(withCount count: Int, of task: ErasedTask) -> Bool

  /// Sets a result from outside any run, which has the types `StateValue` and `Failure` of the state.
  mutating func set(_ outcome: RunOutcome, using context: OperationContext)

  /// Whether a successful run of the task replaces the whole value.
  func isReplaced(by task: ErasedTask) -> Bool

  /// Restores the initial state. Returns the tasks to cancel.
  mutating func resetTasks(using context: OperationContext) -> [ErasedTask]

  /// Forgets the initial value, after a reset.
  mutating func removeInitialValue()

  /// Makes a store from a runtime with a state of this type.
  static func makeStore(of runtime: StoreRuntime) -> any AnyObject & Sendable
}

/// The settings by which a store treats states of one type.
package struct StateTraits: OptionSet, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// The store freezes the clock while it schedules a task: see ``OperationState/datesRuns``.
  package static let datesRuns = StateTraits(rawValue: 1)
  /// The state undoes the yields of a cancelled task: see ``OperationState/undoesYields``.
  package static let undoesYields = StateTraits(rawValue: 2)
  /// The store keeps a copy of the state during each change: see ``OperationState/hasHistory``.
  package static let hasHistory = StateTraits(rawValue: 4)
  /// A result replaces the result before it: see ``ReplacingState``.
  package static let replacesResults = StateTraits(rawValue: 8)

  /// The traits that a state of this type declares.
  package init<State: OperationState>(of state: State.Type) {
    self = []
    if state.datesRuns { self.insert(.datesRuns) }
    if state.undoesYields { self.insert(.undoesYields) }
    if state.hasHistory { self.insert(.hasHistory) }
    if state is any ReplacingState.Type { self.insert(.replacesResults) }
  }
}

/// The values and the error of a state, retained so that a change does not destroy them under the lock.
@usableFromInline
package struct RetainedValues: Sendable {
  private let value: (any Sendable)?
  private let error: (any Sendable)?

  @usableFromInline
  package init(value: (any Sendable)?, error: (any Sendable)?) {
    self.value = value
    self.error = error
  }
}

extension StoredState {
  package static var partwiseType: (any PartwiseReplacingState.Type)? { nil }

  package mutating func renewValue(withCount count: Int, of task: ErasedTask) -> Bool { false }

  package mutating func restamp(_ stamp: ValueStamp) {}
}

extension StoredState where Self: OperationState {
  package var typed: any OperationState & Sendable { self }

  package static func makeStore(of runtime: StoreRuntime) -> any AnyObject & Sendable {
    OperationStore<Self>(runtime: runtime)
  }
}

// MARK: - With the type

extension StoredState {
  /// Returns the state with its type, which the caller knows.
  ///
  /// - Precondition: ``OperationState/stored`` has made the state from a state of this type.
  package func value<State: OperationState & Sendable>(as state: State.Type) -> State {
    // By the precondition, this is such a state, or a `StateBox` with such a state as its first field.
    withUnsafePointer(to: self) { UnsafeRawPointer($0).assumingMemoryBound(to: State.self).pointee }
  }

  /// Changes the state in place. The precondition is the one of ``value(as:)``.
  mutating func edit<State: OperationState & Sendable, R>(as state: State.Type, _ body: (inout State) -> R) -> R {
    // As in `value(as:)`.
    withUnsafeMutablePointer(to: &self) {
      body(&UnsafeMutableRawPointer($0).assumingMemoryBound(to: State.self).pointee)
    }
  }
}

extension OperationState where Self: Sendable {
  /// The state as a store keeps it.
  var stored: any StoredState { (self as? any StoredState) ?? StateBox(self) }
}

/// A box for a state that receives outcomes only with their types, and for the stamp of its value.
struct StateBox<State: OperationState & Sendable>: StoredState {
  // The first field: see `StoredState.value(as:)`.
  private var state: State
  private(set) var stamp: ValueStamp

  init(_ state: State) {
    self.state = state
    self.stamp = Self.stampBeforeResults(of: state)
  }

  mutating func restamp(_ stamp: ValueStamp) {
    self.stamp = stamp
  }

  private static func stampBeforeResults(of state: State) -> ValueStamp {
    ValueStamp((state.currentValue as? any OptionalValue)?.isNil == true ? .none : .initial)
  }

  static var traits: StateTraits { StateTraits(of: State.self) }

  static var partwiseType: (any PartwiseReplacingState.Type)? { State.self as? any PartwiseReplacingState.Type }

  var typed: any OperationState & Sendable { self.state }

  var isLoading: Bool { self.state.isLoading }

  var retainedValues: RetainedValues { RetainedValues(value: self.state.currentValue, error: self.state.error) }

  mutating func schedule(_ task: inout ErasedTask) {
    var typedTask = OperationTask<State.OperationValue, State.Failure>(task)
    self.state.scheduleFetchTask(&typedTask)
    task = typedTask.erased
  }

  mutating func replace(_ task: ErasedTask) {
    self.state.updateFetchTask(OperationTask(task))
  }

  mutating func finish(_ task: ErasedTask) {
    self.state.finishFetchTask(OperationTask(task))
  }

  mutating func report(_ outcome: RunOutcome, of task: ErasedTask) {
    self.state.update(with: outcome.result(State.OperationValue.self), for: OperationTask(task))
    if outcome.isSuccess { self.stamp = task.context.event.stamp }
  }

  mutating func set(_ outcome: RunOutcome, using context: OperationContext) {
    self.state.update(with: outcome.result(State.StateValue.self), using: context)
    if outcome.isSuccess { self.stamp = context.event.stamp }
  }

  func isReplaced(by task: ErasedTask) -> Bool { self.state.isRefreshed(by: OperationTask(task)) }

  mutating func resetTasks(using context: OperationContext) -> [ErasedTask] {
    defer { self.stamp = Self.stampBeforeResults(of: self.state) }
    return self.state.reset(using: context).tasksToCancel.map(\.erased)
  }

  mutating func removeInitialValue() {
    self.state.removeInitialValue()
    self.stamp = Self.stampBeforeResults(of: self.state)
  }

  static func makeStore(of runtime: StoreRuntime) -> any AnyObject & Sendable {
    OperationStore<State>(runtime: runtime)
  }
}
