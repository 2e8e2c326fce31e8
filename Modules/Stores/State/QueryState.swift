public import OperationFoundation

/// The state of a ``QueryRequest``.
///
/// The value remains available during a refetch and after a refetch fails: also check ``isLoading`` and ``error``.
public struct QueryState<Value: Sendable, Failure: Error>: Sendable {
  public typealias StateValue = Value?
  public typealias OperationValue = Value
  public typealias StatusValue = Value

  var content: QueryContent

  /// Creates a state.
  public init(initialValue: Value? = nil) {
    self.content = QueryContent(initialValue: QueryContent.Value(initialValue))
  }

  /// Creates a state with an initial value of a known age, which is fresh or stale by its date.
  ///
  /// - Parameters:
  ///   - initialValue: The value before the first run.
  ///   - date: When the value was fetched, which is ``valueLastUpdatedAt`` until another value is set.
  public init(initialValue: Value, updatedAt date: Date) {
    self.content = QueryContent(initialValue: QueryContent.Value(initialValue, date: date))
  }
}

extension QueryState: OperationState {
  public var currentValue: Value? { self.content.fields.currentValue.get(Value.self) }

  public var initialValue: Value? { self.content.fields.initialValue.get(Value.self) }

  public var valueUpdateCount: Int { self.content.fields.valueUpdateCount }

  /// When the value was last set; before that the date of the initial value, if it has one.
  public var valueLastUpdatedAt: Date? {
    self.valueUpdateCount > 0 ? self.content.fields.valueDate : self.content.fields.initialValue.date
  }

  public var error: Failure? {
    // Made with this type: see `report(_:of:)`.
    self.content.fields.failures?.error.map { unsafeDowncast($0, to: RunFailure<Failure>.self).error }
  }

  public var errorUpdateCount: Int { self.content.fields.failures?.count ?? 0 }

  public var errorLastUpdatedAt: Date? { self.content.fields.failures?.lastDate }

  /// The running tasks, in the order in which they started.
  ///
  /// - Complexity: O(*n*) in the number of running tasks.
  public var activeTasks: [OperationTask<Value, Failure>] {
    self.content.fields.activeTasks.map { OperationTask($0) }
  }

  public var isLoading: Bool { !self.content.fields.activeTasks.isEmpty }

  /// Whether a run is paused.
  ///
  /// - Complexity: O(*n*) in the number of running tasks.
  public var isPaused: Bool { self.activeTasks.contains { $0.isPaused } }

  /// The attempt of the newest running task that has one.
  ///
  /// - Complexity: O(*n*) in the number of running tasks.
  public var attempt: OperationAttempt? { self.activeTasks.newestAttempt() }

  public var status: OperationStatus<Value, Failure> {
    if self.isLoading { return .loading }
    if let error = self.error { return .result(.failure(error)) }
    guard self.valueUpdateCount > 0, let value = self.currentValue else { return .idle }
    return .result(.success(value))
  }

  public static var datesRuns: Bool { false }

  public static var hasHistory: Bool { false }

  public mutating func scheduleFetchTask(_ task: inout OperationTask<Value, Failure>) {
    self.content.schedule(task.erased)
  }

  public mutating func updateFetchTask(_ task: OperationTask<Value, Failure>) {
    self.content.replace(task.erased)
  }

  public mutating func reset(using context: OperationContext) -> OperationStateResetEffect<Self> {
    OperationStateResetEffect(tasksToCancel: self.content.reset().map { OperationTask($0) })
  }

  public mutating func removeInitialValue() {
    self = QueryState()
  }

  public mutating func update(with result: Result<Value?, Failure>, using context: OperationContext) {
    self.set(RunOutcome.of(result), using: context)
  }

  public mutating func update(with result: Result<Value, Failure>, for task: OperationTask<Value, Failure>) {
    self.report(RunOutcome.of(result), of: task.erased)
  }

  public mutating func finishFetchTask(_ task: OperationTask<Value, Failure>) {
    self.content.finish(task.erased)
  }
}

extension QueryState: StoredState {
  package static var traits: StateTraits { .replacesResults }

  package var retainedValues: RetainedValues { self.content.retainedValues }

  package var stamp: ValueStamp {
    let fields = self.content.fields
    if fields.valueUpdateCount > 0 { return fields.stamp }
    return ValueStamp(fields.currentValue.isNone ? .none : .initial)
  }

  package mutating func restamp(_ stamp: ValueStamp) {
    self.content.fields.stamp = stamp
  }

  package mutating func schedule(_ task: inout ErasedTask) {
    self.content.schedule(task)
  }

  package mutating func replace(_ task: ErasedTask) {
    self.content.replace(task)
  }

  package mutating func finish(_ task: ErasedTask) {
    self.content.finish(task)
  }

  package mutating func report(_ outcome: RunOutcome, of task: ErasedTask) {
    self.content.set(outcome, as: { .value($0) }, using: task.context)
  }

  package mutating func renewValue(withCount count: Int, of task: ErasedTask) -> Bool {
    self.content.renewValue(withCount: count, using: task.context)
  }

  package mutating func set(_ outcome: RunOutcome, using context: OperationContext) {
    self.content.set(outcome, as: { .optional($0) }, using: context)
  }

  package func isReplaced(by task: ErasedTask) -> Bool { true }

  package mutating func resetTasks(using context: OperationContext) -> [ErasedTask] { self.content.reset() }
}

extension QueryState: QueryStateProtocol {}

/// A ``QueryState``, with or without a default value.
public protocol QueryStateProtocol: OperationState {}
