public import OperationFoundation

/// A state that supports a default value in place of a missing one.
public protocol DefaultableOperationState<StateValue, OperationValue, Failure>: OperationState {
  /// The type of the value when a default replaces a missing one.
  associatedtype DefaultStateValue: Sendable

  /// Returns `value`, or `defaultValue` if `value` is missing.
  func defaultValue(for value: StateValue, using defaultValue: DefaultStateValue) -> DefaultStateValue

  /// Returns the value to store when `defaultValue` is set.
  func stateValue(for defaultValue: DefaultStateValue) -> StateValue

  /// Whether ``defaultValue(for:using:)`` replaces `value`. By default it replaces a value that is nil.
  func isMissing(_ value: StateValue) -> Bool
}

extension DefaultableOperationState {
  public func isMissing(_ value: StateValue) -> Bool { (value as? any OptionalValue)?.isNil ?? false }
}

/// The state of an operation with a default value: see ``QueryRequest/defaultValue(_:)``.
@dynamicMemberLookup
public struct DefaultOperationState<Base: DefaultableOperationState & Sendable>: Sendable {
  public typealias StateValue = Base.DefaultStateValue
  public typealias OperationValue = Base.OperationValue
  public typealias Failure = Base.Failure
  public typealias StatusValue = Base.StatusValue

  /// The wrapped state, without the default value.
  public var base: Base

  /// The value used in place of a missing one.
  public let defaultValue: Base.DefaultStateValue

  /// Creates a state.
  public init(_ base: Base, defaultValue: Base.DefaultStateValue) {
    self.base = base
    self.defaultValue = defaultValue
  }

  /// Whether ``currentValue`` is the default value, because there is no other.
  ///
  /// The default value is a placeholder: no run has returned it, no storage keeps it, and it does not make the store
  /// fresh.
  public var isPlaceholder: Bool { self.base.isMissing(self.base.currentValue) }

  /// A member of the wrapped state.
  public subscript<Member>(dynamicMember keyPath: KeyPath<Base, Member>) -> Member {
    self.base[keyPath: keyPath]
  }
}

extension DefaultOperationState: OperationState {
  public var currentValue: Base.DefaultStateValue {
    self.base.defaultValue(for: self.base.currentValue, using: self.defaultValue)
  }

  public var initialValue: Base.DefaultStateValue {
    self.base.defaultValue(for: self.base.initialValue, using: self.defaultValue)
  }

  public var valueUpdateCount: Int { self.base.valueUpdateCount }
  public var valueLastUpdatedAt: Date? { self.base.valueLastUpdatedAt }
  public var oldestPartUpdatedAt: Date? { self.base.oldestPartUpdatedAt }
  public var isLoading: Bool { self.base.isLoading }
  public var isPaused: Bool { self.base.isPaused }
  public var attempt: OperationAttempt? { self.base.attempt }
  public var error: Base.Failure? { self.base.error }
  public var errorUpdateCount: Int { self.base.errorUpdateCount }
  public var errorLastUpdatedAt: Date? { self.base.errorLastUpdatedAt }
  public var status: OperationStatus<Base.StatusValue, Base.Failure> { self.base.status }

  public static var datesRuns: Bool { Base.datesRuns }

  public static var undoesYields: Bool { Base.undoesYields }

  public static var hasHistory: Bool { Base.hasHistory }

  public mutating func scheduleFetchTask(_ task: inout OperationTask<Base.OperationValue, Base.Failure>) {
    self.base.scheduleFetchTask(&task)
  }

  public mutating func updateFetchTask(_ task: OperationTask<Base.OperationValue, Base.Failure>) {
    self.base.updateFetchTask(task)
  }

  public mutating func reset(using context: OperationContext) -> OperationStateResetEffect<Self> {
    OperationStateResetEffect(tasksToCancel: self.base.reset(using: context).tasksToCancel)
  }

  public mutating func removeInitialValue() {
    self.base.removeInitialValue()
  }

  public mutating func update(
    with result: Result<Base.DefaultStateValue, Base.Failure>,
    using context: OperationContext
  ) {
    self.base.update(with: result.map { self.base.stateValue(for: $0) }, using: context)
  }

  public mutating func update(
    with result: Result<Base.OperationValue, Base.Failure>,
    for task: OperationTask<Base.OperationValue, Base.Failure>
  ) {
    self.base.update(with: result, for: task)
  }

  public func isRefreshed(by task: OperationTask<Base.OperationValue, Base.Failure>) -> Bool {
    self.base.isRefreshed(by: task)
  }

  public mutating func finishFetchTask(_ task: OperationTask<Base.OperationValue, Base.Failure>) {
    self.base.finishFetchTask(task)
  }
}

extension DefaultOperationState: StoredState where Base: StoredState {
  package static var traits: StateTraits { Base.traits }

  package static var partwiseType: (any PartwiseReplacingState.Type)? { Base.partwiseType }

  package var retainedValues: RetainedValues { self.base.retainedValues }

  package var stamp: ValueStamp {
    let stamp = self.base.stamp
    return self.isPlaceholder && stamp.kind < .partial ? ValueStamp(.placeholder) : stamp
  }

  package mutating func restamp(_ stamp: ValueStamp) {
    self.base.restamp(stamp)
  }

  package mutating func schedule(_ task: inout ErasedTask) {
    self.base.schedule(&task)
  }

  package mutating func replace(_ task: ErasedTask) {
    self.base.replace(task)
  }

  package mutating func finish(_ task: ErasedTask) {
    self.base.finish(task)
  }

  package mutating func report(_ outcome: RunOutcome, of task: ErasedTask) {
    self.base.report(outcome, of: task)
  }

  package mutating func renewValue(withCount count: Int, of task: ErasedTask) -> Bool {
    self.base.renewValue(withCount: count, of: task)
  }

  package mutating func set(_ outcome: RunOutcome, using context: OperationContext) {
    self.update(with: outcome.result(StateValue.self), using: context)
  }

  package func isReplaced(by task: ErasedTask) -> Bool { self.base.isReplaced(by: task) }

  package mutating func resetTasks(using context: OperationContext) -> [ErasedTask] {
    self.base.resetTasks(using: context)
  }
}

extension DefaultOperationState: LayeredOperationState {}

extension DefaultOperationState: QueryStateProtocol where Base: QueryStateProtocol {}

extension QueryState: DefaultableOperationState {
  public func defaultValue(for value: Value?, using defaultValue: Value) -> Value { value ?? defaultValue }

  public func stateValue(for defaultValue: Value) -> Value? { defaultValue }

  public func isMissing(_ value: Value?) -> Bool { if case .none = value { true } else { false } }
}
