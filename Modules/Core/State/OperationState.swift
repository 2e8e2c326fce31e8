public import FoundationEssentials

/// The state of an operation, as its store keeps it.
///
/// The mutators are called by the store, under its lock: they change the state and do nothing else. In particular they
/// must not touch the store.
public protocol OperationState<StateValue, OperationValue, Failure> {
  /// What the state holds.
  associatedtype StateValue: Sendable

  /// What a run of the operation produces.
  associatedtype OperationValue: Sendable

  /// What a successful ``status`` carries.
  associatedtype StatusValue: Sendable = StateValue

  /// What a run of the operation can throw.
  associatedtype Failure: Error

  /// The value now.
  var currentValue: StateValue { get }

  /// The value that the state was made with.
  var initialValue: StateValue { get }

  /// How many times the value was set.
  var valueUpdateCount: Int { get }

  /// When the value was last set, by the ``OperationClock`` of the context that set it.
  var valueLastUpdatedAt: Date? { get }

  /// When the oldest part of the value was last set, from which the value ages; nil where a part never was. It is
  /// ``valueLastUpdatedAt`` unless you say otherwise.
  var oldestPartUpdatedAt: Date? { get }

  /// Whether a run is under way.
  var isLoading: Bool { get }

  /// The error that happened last, unless a value was set after it.
  var error: Failure? { get }

  /// How many times an error was set.
  var errorUpdateCount: Int { get }

  /// When an error was last set, by the ``OperationClock`` of the context that set it.
  var errorLastUpdatedAt: Date? { get }

  /// What happened last.
  var status: OperationStatus<StatusValue, Failure> { get }

  /// Takes in a task that is about to run. The state may edit the task, for instance to schedule it after another; another
  /// task in its place has no effect.
  mutating func scheduleFetchTask(_ task: inout OperationTask<OperationValue, Failure>)

  /// Whether ``scheduleFetchTask(_:)`` looks at the clock of the task's context, which is stopped for it then. True unless
  /// you say otherwise.
  static var datesRuns: Bool { get }

  /// Whether ``finishFetchTask(_:)`` takes back what a task has yielded that ends without an outcome, because it was
  /// cancelled: one whose context has no `operationResultUpdateReason`. For other states the store does it, and keeps the
  /// changes since the first yield for that. False unless you say otherwise.
  static var undoesYields: Bool { get }

  /// Whether the state holds values besides the current value and the error, such as those of a history. The store keeps a
  /// copy of such a state during each change, so that what the change drops is released after the store's lock. True unless
  /// you say otherwise.
  static var hasHistory: Bool { get }

  /// Goes back to the initial state, and says which tasks to cancel for that.
  mutating func reset(using context: OperationContext) -> OperationStateResetEffect<Self>

  /// Sets a value or an error from outside any run.
  mutating func update(with result: Result<StateValue, Failure>, using context: OperationContext)

  /// Takes in a result that a running task yielded or returned.
  mutating func update(
    with result: Result<OperationValue, Failure>,
    for task: OperationTask<OperationValue, Failure>
  )

  /// Whether the success of a task brings the whole value anew, and so answers for an invalidation. True unless you say
  /// otherwise.
  func isRefreshed(by task: OperationTask<OperationValue, Failure>) -> Bool

  /// Lets go of a task that has ended.
  mutating func finishFetchTask(_ task: OperationTask<OperationValue, Failure>)
}

extension OperationState {
  /// What ``reset(using:)`` returns.
  public typealias ResetEffect = OperationStateResetEffect<Self>

  @inlinable
  public var oldestPartUpdatedAt: Date? { self.valueLastUpdatedAt }

  @inlinable
  public static var datesRuns: Bool { true }

  @inlinable
  public static var undoesYields: Bool { false }

  @inlinable
  public static var hasHistory: Bool { true }

  @inlinable
  public func isRefreshed(by task: OperationTask<OperationValue, Failure>) -> Bool { true }
}

extension OperationState where StatusValue == StateValue {
  @inlinable
  public var status: OperationStatus<StateValue, Failure> {
    if self.isLoading { return .loading }
    if let error = self.error { return .result(.failure(error)) }
    return self.valueUpdateCount > 0 ? .result(.success(self.currentValue)) : .idle
  }
}

extension OperationState where StateValue == StatusValue? {
  @inlinable
  public var status: OperationStatus<StatusValue, Failure> {
    if self.isLoading { return .loading }
    if let error = self.error { return .result(.failure(error)) }
    guard self.valueUpdateCount > 0, let value = self.currentValue else { return .idle }
    return .result(.success(value))
  }
}

/// What a store has to do after its state was reset.
public struct OperationStateResetEffect<State: OperationState>: Sendable {
  /// The tasks to cancel; their outcomes do not show in the state.
  public let tasksToCancel: [OperationTask<State.OperationValue, State.Failure>]

  /// Creates an effect.
  @inlinable
  public init(tasksToCancel: [OperationTask<State.OperationValue, State.Failure>] = []) {
    self.tasksToCancel = tasksToCancel
  }
}
