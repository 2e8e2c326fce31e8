public import OperationFoundation

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
    // Unchecked because it is mutated only while it has a single reference, which also makes accesses exclusive:
    // checked, together with those to the store's machine they take 610 of the 1,740 instructions that set a value.
    @exclusivity(unchecked) @usableFromInline var content: Content

    @inlinable
    init(_ content: Content) {
      self.content = content
    }
  }

  /// The stored properties of a state.
  @usableFromInline
  struct Content: Sendable {
    @usableFromInline var activeTasks: [OperationTask<Value, Failure>] = []
    /// Nil until the first error: most states never have one.
    @usableFromInline var failures: Failures?
    @usableFromInline var valueUpdateCount = 0
    /// When the value was last set. Meaningless while `valueUpdateCount` is 0.
    @usableFromInline var valueDate = Date(timeIntervalSinceReferenceDate: 0)
    @usableFromInline var currentValue: Value?
    @usableFromInline let initialValue: Value?

    @inlinable
    init(initialValue: Value?) {
      self.currentValue = initialValue
      self.initialValue = initialValue
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
    if !isKnownUniquelyReferenced(&self.storage) { self.storage = Storage(self.storage.content) }
    return self.storage
  }

  /// Creates a state.
  @inlinable
  public init(initialValue: Value? = nil) {
    self.storage = Storage(Content(initialValue: initialValue))
  }
}

extension QueryState: OperationState {
  @inlinable
  public var currentValue: Value? { self.storage.content.currentValue }

  @inlinable
  public var initialValue: Value? { self.storage.content.initialValue }

  @inlinable
  public var valueUpdateCount: Int { self.storage.content.valueUpdateCount }

  @inlinable
  public var valueLastUpdatedAt: Date? { self.valueUpdateCount > 0 ? self.storage.content.valueDate : nil }

  @inlinable
  public var error: Failure? { self.storage.content.failures?.error }

  @inlinable
  public var errorUpdateCount: Int { self.storage.content.failures?.count ?? 0 }

  @inlinable
  public var errorLastUpdatedAt: Date? { self.storage.content.failures?.lastDate }

  /// The running tasks, in the order in which they started.
  @inlinable
  public var activeTasks: [OperationTask<Value, Failure>] { self.storage.content.activeTasks }

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
    self.uniqueStorage().content.activeTasks.append(task)
  }

  public mutating func updateFetchTask(_ task: OperationTask<Value, Failure>) {
    guard let index = self.activeTasks.lastIndex(where: { $0.id == task.id }) else { return }
    self.uniqueStorage().content.activeTasks[index] = task
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
      storage.content.currentValue = value
      storage.content.valueUpdateCount += 1
      storage.content.valueDate = context.date
      if let failures = storage.content.failures, failures.error != nil {
        storage.content.failures = Failures(error: nil, count: failures.count, lastDate: failures.lastDate)
      }
    case .failure(let error):
      let count = storage.content.failures?.count ?? 0
      storage.content.failures = Failures(error: error, count: count + 1, lastDate: context.date)
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
    if index == storage.content.activeTasks.count - 1 {
      storage.content.activeTasks.removeLast()
    } else {
      storage.content.activeTasks.remove(at: index)
    }
  }
}

extension QueryState: QueryStateProtocol {}

/// A ``QueryState``, with or without a default value.
public protocol QueryStateProtocol: OperationState {}
