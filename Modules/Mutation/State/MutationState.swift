public import FoundationEssentials
public import OperationCore

/// The state of a ``MutationRequest``: what its calls came to, taken together and one by one.
///
/// Any number of calls may be under way. ``currentValue``, ``error`` and ``status`` tell what happened last, whichever
/// call it happened to; the ``history`` has the calls themselves. A call that was cancelled is taken out of all of
/// them.
public struct MutationState<Arguments: Sendable, Value: Sendable, Failure: Error>: Sendable {
  public typealias StateValue = Value?
  public typealias OperationValue = Value
  public typealias StatusValue = Value

  public let initialValue: Value?

  /// The tasks that are running, in the order in which they started.
  public private(set) var activeTasks: [OperationTask<Value, Failure>] = []

  var entries: [HistoryEntry] = []
  var historyLength = OperationContext().mutationHistoryLength

  /// What calls that have ended, and setters, have brought.
  private var settled = UpdateTally<Value, Failure>()
  /// What calls that are under way have yielded, which goes when they are cancelled.
  private var yielded: [OperationTaskIdentifier: UpdateTally<Value, Failure>] = [:]
  private var updateCount = 0

  /// Creates a state.
  public init(initialValue: Value? = nil) {
    self.initialValue = initialValue
  }

  private var tally: UpdateTally<Value, Failure> {
    self.yielded.isEmpty ? self.settled : self.yielded.values.reduce(into: self.settled) { $0.add($1) }
  }
}

extension MutationState: OperationState {
  public var currentValue: Value? {
    guard let value = self.tally.value else { return self.initialValue }
    return value.content
  }

  public var valueUpdateCount: Int { self.tally.valueCount }
  public var valueLastUpdatedAt: Date? { self.tally.value?.date }
  public var isLoading: Bool { !self.activeTasks.isEmpty }
  public var error: Failure? { self.tally.presentError }
  public var errorUpdateCount: Int { self.tally.errorCount }
  public var errorLastUpdatedAt: Date? { self.tally.error?.date }

  public var status: OperationStatus<Value, Failure> {
    if self.isLoading { return .loading }
    let tally = self.tally
    if let error = tally.presentError { return .result(.failure(error)) }
    guard let value = tally.value?.content else { return .idle }
    return .result(.success(value))
  }

  public mutating func scheduleFetchTask(_ task: inout OperationTask<Value, Failure>) {
    self.activeTasks.append(task)
    self.historyLength = task.context.mutationHistoryLength
    guard let arguments = task.context.mutationArguments(as: Arguments.self) else { return }
    self.entries.append(
      HistoryEntry(task: task, arguments: arguments, startDate: task.context.date)
    )
    self.trimHistory()
  }

  public mutating func reset(using context: OperationContext) -> OperationStateResetEffect<Self> {
    let effect = OperationStateResetEffect<Self>(tasksToCancel: self.activeTasks)
    self = Self(initialValue: self.initialValue)
    return effect
  }

  public mutating func update(with result: Result<Value?, Failure>, using context: OperationContext) {
    self.updateCount += 1
    self.settled.note(result, number: self.updateCount, at: context.date)
  }

  public mutating func update(with result: Result<Value, Failure>, for task: OperationTask<Value, Failure>) {
    let date = task.context.date
    self.updateCount += 1
    if task.context.operationResultUpdateReason == .yieldedResult {
      self.yielded[task.id, default: UpdateTally()].note(result.map { $0 }, number: self.updateCount, at: date)
      self.updateEntry(of: task) { $0.receive(result, at: date) }
    } else {
      if let yielded = self.yielded.removeValue(forKey: task.id) { self.settled.add(yielded) }
      self.settled.note(result.map { $0 }, number: self.updateCount, at: date)
      self.updateEntry(of: task) { $0.end(with: result, at: date) }
    }
  }

  public mutating func finishFetchTask(_ task: OperationTask<Value, Failure>) {
    if let index = self.activeTasks.firstIndex(where: { $0.id == task.id }) { self.activeTasks.remove(at: index) }
    let hasReturned = task.context.operationResultUpdateReason == .returnedFinalResult
    if let index = self.entries.lastIndex(where: { $0.id == task.id }), !self.entries[index].hasEnded {
      // Without an outcome a call was cancelled.
      if hasReturned { self.entries[index].hasEnded = true } else { self.entries.remove(at: index) }
    }
    if !hasReturned { self.yielded[task.id] = nil }
    self.trimHistory()
  }

  private mutating func updateEntry(
    of task: OperationTask<Value, Failure>,
    _ body: (inout HistoryEntry) -> Void
  ) {
    if let index = self.entries.lastIndex(where: { $0.id == task.id }) { body(&self.entries[index]) }
  }
}
