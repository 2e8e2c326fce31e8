public import OperationFoundation

/// The state of an operation in its store.
///
/// The store calls the mutating methods while it holds its lock. They must only change the state, and must not access
/// the store.
public protocol OperationState<StateValue, OperationValue, Failure> {
  /// The type of the value in the state.
  associatedtype StateValue: Sendable

  /// The type of value that a run of the operation returns.
  associatedtype OperationValue: Sendable

  /// The type of the value of a successful ``status``.
  associatedtype StatusValue: Sendable = StateValue

  /// The type of error that a run of the operation throws.
  associatedtype Failure: Error

  /// The current value.
  var currentValue: StateValue { get }

  /// The value that the state was created with.
  var initialValue: StateValue { get }

  /// The number of times the value was set.
  var valueUpdateCount: Int { get }

  /// When the value was last set, by the ``OperationClock`` of the context that set it.
  ///
  /// Before that it may be the date of the initial value: see ``QueryState/init(initialValue:updatedAt:)``.
  var valueLastUpdatedAt: Date? { get }

  /// When the oldest part of the value was last set; nil when a part was never set.
  ///
  /// The age of the value counts from this date. The default is ``valueLastUpdatedAt``.
  var oldestPartUpdatedAt: Date? { get }

  /// Whether a run is under way.
  var isLoading: Bool { get }

  /// Whether a run is paused: it has begun, and waits until a specification holds. False by default.
  ///
  /// A paused run is also loading. See ``updateFetchTask(_:)``.
  var isPaused: Bool { get }

  /// The current attempt of a run; nil when nothing runs, or when nothing in the run tries again.
  ///
  /// With several runs, it is the attempt of the newest run that has one. Nil by default: see ``updateFetchTask(_:)``.
  var attempt: OperationAttempt? { get }

  /// The last error; nil when a value was set after it.
  var error: Failure? { get }

  /// The number of times an error was set.
  var errorUpdateCount: Int { get }

  /// When an error was last set, by the ``OperationClock`` of the context that set it.
  var errorLastUpdatedAt: Date? { get }

  /// The current status: idle, loading, or the last result.
  var status: OperationStatus<StatusValue, Failure> { get }

  /// Adds a task that is about to run.
  ///
  /// The state may edit the task, for instance to schedule it after another one. Replacing it with another task has no
  /// effect.
  mutating func scheduleFetchTask(_ task: inout OperationTask<OperationValue, Failure>)

  /// Replaces a task with a copy of it that has another ``OperationTask/attempt`` or ``OperationTask/isPaused``.
  ///
  /// A state that keeps its tasks implements it, and reads ``attempt`` and ``isPaused`` from them. The default does
  /// nothing.
  mutating func updateFetchTask(_ task: OperationTask<OperationValue, Failure>)

  /// Whether ``scheduleFetchTask(_:)`` reads the clock of the task's context.
  ///
  /// When true, which is the default, the store reads the clock before the call and freezes it at that date during the
  /// call, because it does not call a clock with its lock held.
  static var datesRuns: Bool { get }

  /// Whether ``finishFetchTask(_:)`` undoes the yields of a cancelled task.
  ///
  /// A cancelled task finishes without an outcome: its context has no `operationResultUpdateReason`. When false, which
  /// is the default, the store undoes the yields, and records all changes since the first yield to do so.
  static var undoesYields: Bool { get }

  /// Whether the state contains values besides the current value and the error, such as a history.
  ///
  /// When true, which is the default, the store keeps a copy of the state during each change, so that values removed by
  /// the change are released after unlocking.
  static var hasHistory: Bool { get }

  /// Restores the initial state.
  ///
  /// - Returns: The tasks that the store must cancel.
  mutating func reset(using context: OperationContext) -> OperationStateResetEffect<Self>

  /// Forgets the value that the state was created with, for a client that forgets its user.
  ///
  /// Called after ``reset(using:)``. A state without an initial value of a user, such as one with a default value, keeps
  /// it. The default does nothing.
  mutating func removeInitialValue()

  /// Sets a value or an error that does not come from a run.
  mutating func update(with result: Result<StateValue, Failure>, using context: OperationContext)

  /// Applies a result that a running task yielded or returned.
  mutating func update(
    with result: Result<OperationValue, Failure>,
    for task: OperationTask<OperationValue, Failure>
  )

  /// Whether a successful run of `task` replaces the whole value, so that it is no longer invalidated.
  ///
  /// The default returns true.
  func isRefreshed(by task: OperationTask<OperationValue, Failure>) -> Bool

  /// Removes a task that has ended.
  mutating func finishFetchTask(_ task: OperationTask<OperationValue, Failure>)
}

extension OperationState {
  /// The return type of ``reset(using:)``.
  public typealias ResetEffect = OperationStateResetEffect<Self>

  public mutating func removeInitialValue() {}

  public var oldestPartUpdatedAt: Date? { self.valueLastUpdatedAt }

  public var isPaused: Bool { false }

  public var attempt: OperationAttempt? { nil }

  public mutating func updateFetchTask(_ task: OperationTask<OperationValue, Failure>) {}

  public static var datesRuns: Bool { true }

  public static var undoesYields: Bool { false }

  public static var hasHistory: Bool { true }

  public func isRefreshed(by task: OperationTask<OperationValue, Failure>) -> Bool { true }
}

extension OperationState where StatusValue == StateValue {
  public var status: OperationStatus<StateValue, Failure> {
    if self.isLoading { return .loading }
    if let error = self.error { return .result(.failure(error)) }
    return self.valueUpdateCount > 0 ? .result(.success(self.currentValue)) : .idle
  }
}

extension OperationState where StateValue == StatusValue? {
  public var status: OperationStatus<StatusValue, Failure> {
    if self.isLoading { return .loading }
    if let error = self.error { return .result(.failure(error)) }
    guard self.valueUpdateCount > 0, let value = self.currentValue else { return .idle }
    return .result(.success(value))
  }
}

/// The work of a store after its state was reset.
public struct OperationStateResetEffect<State: OperationState>: Sendable {
  /// The tasks to cancel, whose outcomes do not change the state.
  public let tasksToCancel: [OperationTask<State.OperationValue, State.Failure>]

  /// Creates an effect.
  public init(tasksToCancel: [OperationTask<State.OperationValue, State.Failure>] = []) {
    self.tasksToCancel = tasksToCancel
  }
}
