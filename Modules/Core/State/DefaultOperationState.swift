public import OperationFoundation

/// A state that supports a default value in place of a missing one.
public protocol DefaultableOperationState<StateValue, OperationValue, Failure>: OperationState {
  /// The type of the value when a default replaces a missing one.
  associatedtype DefaultStateValue: Sendable

  /// Returns `value`, or `defaultValue` if `value` is missing.
  func defaultValue(for value: StateValue, using defaultValue: DefaultStateValue) -> DefaultStateValue

  /// Returns the value to store when `defaultValue` is set.
  func stateValue(for defaultValue: DefaultStateValue) -> StateValue
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
  @inlinable
  public init(_ base: Base, defaultValue: Base.DefaultStateValue) {
    self.base = base
    self.defaultValue = defaultValue
  }

  /// A member of the wrapped state.
  @inlinable
  public subscript<Member>(dynamicMember keyPath: KeyPath<Base, Member>) -> Member {
    self.base[keyPath: keyPath]
  }
}

extension DefaultOperationState: OperationState {
  @inlinable
  public var currentValue: Base.DefaultStateValue {
    self.base.defaultValue(for: self.base.currentValue, using: self.defaultValue)
  }

  @inlinable
  public var initialValue: Base.DefaultStateValue {
    self.base.defaultValue(for: self.base.initialValue, using: self.defaultValue)
  }

  @inlinable
  public var valueUpdateCount: Int { self.base.valueUpdateCount }
  @inlinable
  public var valueLastUpdatedAt: Date? { self.base.valueLastUpdatedAt }
  @inlinable
  public var oldestPartUpdatedAt: Date? { self.base.oldestPartUpdatedAt }
  @inlinable
  public var isLoading: Bool { self.base.isLoading }
  @inlinable
  public var isPaused: Bool { self.base.isPaused }
  @inlinable
  public var attempt: OperationAttempt? { self.base.attempt }
  @inlinable
  public var error: Base.Failure? { self.base.error }
  @inlinable
  public var errorUpdateCount: Int { self.base.errorUpdateCount }
  @inlinable
  public var errorLastUpdatedAt: Date? { self.base.errorLastUpdatedAt }
  @inlinable
  public var status: OperationStatus<Base.StatusValue, Base.Failure> { self.base.status }

  @inlinable
  public static var datesRuns: Bool { Base.datesRuns }

  @inlinable
  public static var undoesYields: Bool { Base.undoesYields }

  @inlinable
  public static var hasHistory: Bool { Base.hasHistory }

  @inlinable
  public mutating func scheduleFetchTask(_ task: inout OperationTask<Base.OperationValue, Base.Failure>) {
    self.base.scheduleFetchTask(&task)
  }

  @inlinable
  public mutating func updateFetchTask(_ task: OperationTask<Base.OperationValue, Base.Failure>) {
    self.base.updateFetchTask(task)
  }

  @inlinable
  public mutating func reset(using context: OperationContext) -> OperationStateResetEffect<Self> {
    OperationStateResetEffect(tasksToCancel: self.base.reset(using: context).tasksToCancel)
  }

  @inlinable
  public mutating func update(
    with result: Result<Base.DefaultStateValue, Base.Failure>,
    using context: OperationContext
  ) {
    self.base.update(with: result.map { self.base.stateValue(for: $0) }, using: context)
  }

  @inlinable
  public mutating func update(
    with result: Result<Base.OperationValue, Base.Failure>,
    for task: OperationTask<Base.OperationValue, Base.Failure>
  ) {
    self.base.update(with: result, for: task)
  }

  @inlinable
  public func isRefreshed(by task: OperationTask<Base.OperationValue, Base.Failure>) -> Bool {
    self.base.isRefreshed(by: task)
  }

  @inlinable
  public mutating func finishFetchTask(_ task: OperationTask<Base.OperationValue, Base.Failure>) {
    self.base.finishFetchTask(task)
  }
}

extension DefaultOperationState: LayeredOperationState {}

extension DefaultOperationState: QueryStateProtocol where Base: QueryStateProtocol {}

extension QueryState: DefaultableOperationState {
  @inlinable
  public func defaultValue(for value: Value?, using defaultValue: Value) -> Value { value ?? defaultValue }

  @inlinable
  public func stateValue(for defaultValue: Value) -> Value? { defaultValue }
}
