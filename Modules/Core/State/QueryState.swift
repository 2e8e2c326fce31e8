public import FoundationEssentials

/// The state of a ``QueryRequest``.
///
/// The value remains available during a refetch and after a refetch fails: also check ``isLoading`` and ``error``.
public struct QueryState<Value: Sendable, Failure: Error>: Sendable {
  public typealias StateValue = Value?
  public typealias OperationValue = Value
  public typealias StatusValue = Value

  /// The copy-on-write storage of a state: each event carries a copy, and most copies are never modified.
  @usableFromInline
  final class Storage: @unchecked Sendable {
    // Unchecked because it is mutated only while it has a single reference, which also makes accesses exclusive.
    @exclusivity(unchecked) @usableFromInline var activeTasks: [OperationTask<Value, Failure>] = []
    /// Nil until the first error: most states never have one.
    @exclusivity(unchecked) @usableFromInline var failures: Failures?
    @exclusivity(unchecked) @usableFromInline var valueUpdateCount = 0
    /// When the value was last set. Meaningless while `valueUpdateCount` is 0.
    @exclusivity(unchecked) @usableFromInline var valueDate = Date(timeIntervalSinceReferenceDate: 0)
    @exclusivity(unchecked) @usableFromInline var currentValue: Value?
    @usableFromInline let initialValue: Value?

    @inlinable
    init(initialValue: Value?) {
      self.currentValue = initialValue
      self.initialValue = initialValue
    }

    @inlinable
    init(copying other: Storage) {
      self.currentValue = other.currentValue
      self.initialValue = other.initialValue
      self.valueUpdateCount = other.valueUpdateCount
      self.valueDate = other.valueDate
      self.failures = other.failures
      self.activeTasks = other.activeTasks
    }
  }

  /// The last error, and the number and last date of all errors.
  @usableFromInline
  final class Failures: Sendable {
    /// The last error; nil when a value was set after it.
    @usableFromInline let error: Failure?
    @usableFromInline let count: Int
    @usableFromInline let lastDate: Date

    @inlinable
    init(error: Failure?, count: Int, lastDate: Date) {
      self.error = error
      self.count = count
      self.lastDate = lastDate
    }
  }

  @usableFromInline var storage: Storage

  /// Returns the storage for mutation, after copying it if other states share it.
  @inlinable
  mutating func uniqueStorage() -> Storage {
    if !isKnownUniquelyReferenced(&self.storage) { self.storage = Storage(copying: self.storage) }
    return self.storage
  }

  /// Creates a state.
  @inlinable
  public init(initialValue: Value? = nil) {
    self.storage = Storage(initialValue: initialValue)
  }
}

extension QueryState: OperationState {
  @inlinable
  public var currentValue: Value? { self.storage.currentValue }

  @inlinable
  public var initialValue: Value? { self.storage.initialValue }

  @inlinable
  public var valueUpdateCount: Int { self.storage.valueUpdateCount }

  @inlinable
  public var valueLastUpdatedAt: Date? { self.storage.valueUpdateCount > 0 ? self.storage.valueDate : nil }

  @inlinable
  public var error: Failure? { self.storage.failures?.error }

  @inlinable
  public var errorUpdateCount: Int { self.storage.failures?.count ?? 0 }

  @inlinable
  public var errorLastUpdatedAt: Date? { self.storage.failures?.lastDate }

  /// The running tasks, in the order in which they started.
  @inlinable
  public var activeTasks: [OperationTask<Value, Failure>] { self.storage.activeTasks }

  @inlinable
  public var isLoading: Bool { !self.activeTasks.isEmpty }

  /// Whether a run is paused.
  ///
  /// - Complexity: O(*n*) in the number of running tasks.
  public var isPaused: Bool { self.activeTasks.contains { $0.isPaused } }

  /// The attempt of the newest running task that has one.
  ///
  /// - Complexity: O(*n*) in the number of running tasks.
  public var attempt: OperationAttempt? { self.activeTasks.newestAttempt() }

  @inlinable
  public var status: OperationStatus<Value, Failure> {
    if self.isLoading { return .loading }
    if let error = self.error { return .result(.failure(error)) }
    guard self.valueUpdateCount > 0, let value = self.currentValue else { return .idle }
    return .result(.success(value))
  }

  @inlinable
  public static var datesRuns: Bool { false }

  @inlinable
  public static var hasHistory: Bool { false }

  @inlinable
  public mutating func scheduleFetchTask(_ task: inout OperationTask<Value, Failure>) {
    self.uniqueStorage().activeTasks.append(task)
  }

  public mutating func updateFetchTask(_ task: OperationTask<Value, Failure>) {
    guard let index = self.activeTasks.lastIndex(where: { $0.id == task.id }) else { return }
    self.uniqueStorage().activeTasks[index] = task
  }

  @inlinable
  public mutating func reset(using context: OperationContext) -> OperationStateResetEffect<Self> {
    let effect = OperationStateResetEffect<Self>(tasksToCancel: self.activeTasks)
    self = Self(initialValue: self.initialValue)
    return effect
  }

  @inlinable
  public mutating func update(with result: Result<Value?, Failure>, using context: OperationContext) {
    let storage = self.uniqueStorage()
    switch result {
    case .success(let value):
      storage.currentValue = value
      storage.valueUpdateCount += 1
      storage.valueDate = context.date
      if let failures = storage.failures, failures.error != nil {
        storage.failures = Failures(error: nil, count: failures.count, lastDate: failures.lastDate)
      }
    case .failure(let error):
      let count = storage.failures?.count ?? 0
      storage.failures = Failures(error: error, count: count + 1, lastDate: context.date)
    }
  }

  @inlinable
  public mutating func update(with result: Result<Value, Failure>, for task: OperationTask<Value, Failure>) {
    self.update(with: result.map { $0 }, using: task.context)
  }

  @inlinable
  public mutating func finishFetchTask(_ task: OperationTask<Value, Failure>) {
    guard let index = self.activeTasks.lastIndex(where: { $0.id == task.id }) else { return }
    let storage = self.uniqueStorage()
    if index == storage.activeTasks.count - 1 {
      storage.activeTasks.removeLast()
    } else {
      storage.activeTasks.remove(at: index)
    }
  }
}

extension QueryState: QueryStateProtocol {}

/// A ``QueryState``, with or without a default value.
public protocol QueryStateProtocol: OperationState {}
