public import FoundationEssentials

/// The state of a ``QueryRequest``.
///
/// The value stays readable while a refetch runs and after it failed: look at ``isLoading`` and ``error`` next to it.
public struct QueryState<Value: Sendable, Failure: Error>: Sendable {
  public typealias StateValue = Value?
  public typealias OperationValue = Value
  public typealias StatusValue = Value

  public internal(set) var currentValue: Value?
  public let initialValue: Value?
  public private(set) var valueUpdateCount = 0
  public private(set) var valueLastUpdatedAt: Date?
  public private(set) var error: Failure?
  public private(set) var errorUpdateCount = 0
  public private(set) var errorLastUpdatedAt: Date?

  /// The tasks that are running, in the order in which they started.
  public private(set) var activeTasks: [OperationTask<Value, Failure>] = []

  /// Creates a state.
  public init(initialValue: Value? = nil) {
    self.currentValue = initialValue
    self.initialValue = initialValue
  }
}

extension QueryState: OperationState {
  public var isLoading: Bool { !self.activeTasks.isEmpty }

  public var status: OperationStatus<Value, Failure> {
    if self.isLoading { return .loading }
    if let error = self.error { return .result(.failure(error)) }
    guard self.valueUpdateCount > 0, let value = self.currentValue else { return .idle }
    return .result(.success(value))
  }

  public mutating func scheduleFetchTask(_ task: inout OperationTask<Value, Failure>) {
    self.activeTasks.append(task)
  }

  public mutating func reset(using context: OperationContext) -> OperationStateResetEffect<Self> {
    let effect = OperationStateResetEffect<Self>(tasksToCancel: self.activeTasks)
    self = Self(initialValue: self.initialValue)
    return effect
  }

  public mutating func update(with result: Result<Value?, Failure>, using context: OperationContext) {
    switch result {
    case .success(let value):
      self.currentValue = value
      self.valueUpdateCount += 1
      self.valueLastUpdatedAt = context.operationClock.now()
      self.error = nil
    case .failure(let error):
      self.error = error
      self.errorUpdateCount += 1
      self.errorLastUpdatedAt = context.operationClock.now()
    }
  }

  public mutating func update(with result: Result<Value, Failure>, for task: OperationTask<Value, Failure>) {
    self.update(with: result.map { $0 }, using: task.context)
  }

  public mutating func finishFetchTask(_ task: OperationTask<Value, Failure>) {
    if let index = self.activeTasks.firstIndex(where: { $0.id == task.id }) {
      self.activeTasks.remove(at: index)
    }
  }
}

extension QueryState: QueryStateProtocol {}

/// A state whose operation is fetched: ``QueryState``, also under a default value.
public protocol QueryStateProtocol: OperationState {}
