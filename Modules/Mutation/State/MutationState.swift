public import OperationCore
public import OperationFoundation

/// The state of a ``MutationRequest``: the combined result of its calls, and the calls one by one.
///
/// Any number of calls may be active. ``currentValue``, ``error`` and ``status`` follow the call that was started last;
/// the ``history`` contains the calls. A call that ends after a later call has ended changes its entry in the history
/// and nothing else. While the last call has no result, the state shows the result of the last call that has one. A
/// value that is set is shown until a call yields or returns a result after it. A cancelled call is removed from all of
/// these.
public struct MutationState<Arguments: Sendable, Value: Sendable, Failure: Error>: Sendable {
  /// The type of the value in the state.
  public typealias StateValue = Value?

  /// The type of the value that a call returns.
  public typealias OperationValue = Value

  /// The type of the value of a successful ``status``.
  public typealias StatusValue = Value

  /// An active call.
  struct Call: Sendable {
    var task: OperationTask<Value, Failure>
    /// Nil if the mutation is run without arguments, which is misuse.
    var entry: HistoryEntry?
    var hasResult = false
  }

  /// The value that the state was created with.
  public let initialValue: Value?

  /// The active calls by their numbers, which ascend in the order in which the calls started.
  private(set) var calls = ChunkedMap<Int, Call>()
  /// The calls in the history that have ended, by their numbers.
  private(set) var endedCalls = ChunkedMap<Int, HistoryEntry>()
  private(set) var historyLength = OperationContext().mutationHistoryLength
  private var numbers = ChunkedMap<OperationTaskIdentifier, Int>()
  private var lastNumber = 0
  private var results = ShownResults<Value, Failure>()
  /// The calls that a journal keeps; empty without one.
  var journaled = JournaledCalls()

  /// Creates a state.
  ///
  /// - Parameter initialValue: The value until a call yields or returns one, or one is set.
  public init(initialValue: Value? = nil) {
    self.initialValue = initialValue
  }

  /// The active tasks, in the order in which they started.
  ///
  /// - Complexity: O(*n*) in their number.
  public var activeTasks: [OperationTask<Value, Failure>] { self.calls.values.map(\.task) }
}

extension MutationState: OperationState {
  /// The newest value of the last call that has one, or the value that was set after it.
  public var currentValue: Value? {
    guard let value = self.results.value else { return self.initialValue }
    return value.content
  }

  /// The number of times that the value was set, without calls that ended after a later one.
  public var valueUpdateCount: Int { self.results.valueCount }

  /// The date of the current value, by the clock of the context that it was set with.
  public var valueLastUpdatedAt: Date? { self.results.value?.date }

  /// Whether any call is active, even if the one that was started last has ended.
  public var isLoading: Bool { !self.calls.isEmpty }

  /// Whether a call is paused.
  ///
  /// - Complexity: O(*n*) in the number of active calls.
  public var isPaused: Bool { self.calls.last(after: 0) { $0.task.isPaused ? true : nil } ?? false }

  /// The attempt of the active call that was started last among those that have one.
  ///
  /// The tasks of the ``history`` have the attempts of all calls.
  ///
  /// - Complexity: O(*n*) in the number of active calls.
  public var attempt: OperationAttempt? { self.calls.last(after: 0) { $0.task.attempt } }

  /// The last error; nil if a value came after it.
  public var error: Failure? { self.results.presentError }

  /// The number of times that an error was set, without calls that ended after a later one.
  public var errorUpdateCount: Int { self.results.errorCount }

  /// The date of the last error, even if a value came after it, by the clock of the context that it was set with.
  public var errorLastUpdatedAt: Date? { self.results.error?.date }

  /// The status of the call that was started last: loading while it is active.
  public var status: OperationStatus<Value, Failure> {
    if let call = self.calls.last, call.key > self.results.lastEndedCall { return .loading }
    if let error = self.error { return .result(.failure(error)) }
    guard let value = self.results.value?.content else { return .idle }
    return .result(.success(value))
  }

  /// True: the values that a cancelled call has yielded are removed.
  public static var undoesYields: Bool { true }

  /// Adds a call that is about to run, and its entry in the history.
  public mutating func scheduleFetchTask(_ task: inout OperationTask<Value, Failure>) {
    self.lastNumber += 1
    let entry = task.context.mutationArguments(as: Arguments.self).map { arguments in
      HistoryEntry(task: task, arguments: arguments, startDate: task.context.date)
    }
    self.calls.insert(Call(task: task, entry: entry), for: self.lastNumber)
    self.numbers.insert(self.lastNumber, for: task.id)
    self.historyLength = task.context.mutationHistoryLength
    self.trimHistory()
  }

  /// Replaces the task of an active call with a copy that has another attempt or pause.
  public mutating func updateFetchTask(_ task: OperationTask<Value, Failure>) {
    guard let number = self.numbers[task.id] else { return }
    self.calls.update(number) { call in
      call.task = task
      call.entry?.task = task
    }
  }

  /// Restores the initial value, empties the history, and returns the tasks to cancel.
  ///
  /// The calls that a journal has stay in ``journaledCalls``.
  public mutating func reset(using context: OperationContext) -> OperationStateResetEffect<Self> {
    let effect = OperationStateResetEffect<Self>(tasksToCancel: self.activeTasks)
    let pending = self.journaled.pending
    self = Self(initialValue: self.initialValue)
    self.journaled.pending = pending
    return effect
  }

  /// Forgets the initial value, and the calls that a journal keeps.
  public mutating func removeInitialValue() {
    self = Self()
  }

  /// Sets the value or an error from outside any call.
  public mutating func update(with result: Result<Value?, Failure>, using context: OperationContext) {
    self.results.set(result, at: context.date)
  }

  /// Applies a result that a call has yielded or returned.
  public mutating func update(with result: Result<Value, Failure>, for task: OperationTask<Value, Failure>) {
    let date = task.context.date
    guard let number = self.numbers[task.id] else { return self.results.set(result.map { $0 }, at: date) }
    if task.context.operationResultUpdateReason == .yieldedResult {
      self.results.yield(result.map { $0 }, by: number, at: date)
      self.calls.update(number) { $0.entry?.receive(result, at: date) }
    } else {
      self.results.end(number, with: result.map { $0 }, at: date)
      self.calls.update(number) { call in
        call.entry?.end(with: result, at: date)
        call.hasResult = true
      }
    }
  }

  /// Removes a task that has ended. The results and the entry of a cancelled call are removed as well.
  public mutating func finishFetchTask(_ task: OperationTask<Value, Failure>) {
    guard let number = self.numbers.removeValue(for: task.id) else { return }
    guard let call = self.calls.removeValue(for: number) else { return }
    // A call that ends without a final result was cancelled.
    guard task.context.operationResultUpdateReason == .returnedFinalResult else {
      return self.results.rollBack(number)
    }
    if !call.hasResult { self.results.end(number, with: nil, at: task.context.date) }
    guard var entry = call.entry else { return }
    entry.hasEnded = true
    self.endedCalls.insert(entry, for: number)
    self.trimHistory()
  }

  private mutating func trimHistory() {
    while self.endedCalls.count > self.historyLength { self.endedCalls.removeFirst() }
  }
}

extension MutationState: ValueReplacingState {
  /// Returns the current value.
  public func operationValue(replacedBy value: Value) -> Value? { self.currentValue }
}
