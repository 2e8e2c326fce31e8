public import OperationCore
public import OperationFoundation

extension MutationState {
  /// One call of a mutation.
  public struct HistoryEntry: Sendable, Identifiable {
    /// The task that makes the call.
    public internal(set) var task: OperationTask<Value, Failure>

    /// The arguments of the call.
    public let arguments: Arguments

    /// The date at which the call started, by the clock of its context.
    public let startDate: Date

    /// The last result that the call has yielded or returned. Nil if it has none yet.
    public private(set) var currentResult: Result<Value, Failure>?

    /// The date of ``currentResult``, by the clock of the call's context.
    public private(set) var lastUpdatedAt: Date?

    var hasEnded = false

    init(task: OperationTask<Value, Failure>, arguments: Arguments, startDate: Date) {
      self.task = task
      self.arguments = arguments
      self.startDate = startDate
    }

    mutating func receive(_ result: Result<Value, Failure>, at date: Date) {
      self.currentResult = result
      self.lastUpdatedAt = date
    }

    mutating func end(with result: Result<Value, Failure>, at date: Date) {
      self.receive(result, at: date)
      self.hasEnded = true
    }
  }

  /// The newest calls, the oldest first, up to the limit that ``MutationRequest/maxHistory(length:)`` sets.
  ///
  /// The newest call is always included. When the limit is exceeded, the oldest call that has ended is removed first,
  /// and the oldest active call only if all calls are active. A cancelled call is removed.
  ///
  /// - Complexity: O(*n*) in the length of the history.
  public var history: [HistoryEntry] {
    let running = self.calls.suffix(self.historyLength) { $0.entry }
    let ended = self.endedCalls.suffix(self.historyLength) { $0 }
    let hasEndedLast = (ended.last?.key ?? 0) > (running.last?.key ?? 0)
    let runningCount = min(running.count, self.historyLength - (hasEndedLast ? 1 : 0))
    let calls = running.suffix(runningCount) + ended.suffix(self.historyLength - runningCount)
    return calls.sorted { $0.key < $1.key }.map(\.value)
  }
}

extension Array {
  /// The call in the history whose task has the identifier. Nil if the history does not contain it.
  ///
  /// - Complexity: O(*n*) in the length of the history.
  public subscript<Arguments, Value, Failure>(id id: OperationTaskIdentifier) -> Element?
  where Element == MutationState<Arguments, Value, Failure>.HistoryEntry {
    self.last { $0.id == id }
  }
}

extension MutationState.HistoryEntry {
  /// The identifier of the task.
  public var id: OperationTaskIdentifier { self.task.id }

  /// The status of the call: loading until it has ended.
  public var status: OperationStatus<Value, Failure> {
    guard self.hasEnded else { return .loading }
    return self.currentResult.map { .result($0) } ?? .idle
  }

  /// The value of the call with its arguments. Nil while the call runs, and if it has failed.
  public var value: MutationOperationValue<Arguments, Value>? {
    guard case .result(.success(let value)) = self.status else { return nil }
    return MutationOperationValue(arguments: self.arguments, returnValue: value)
  }
}

extension MutationState: MutationStateProtocol {
  /// The arguments of the newest call in the history. Nil if the history is empty.
  public var latestArguments: Arguments? {
    let running = self.calls.suffix(1) { $0.entry }.first
    let ended = self.endedCalls.last
    return (running?.key ?? 0) > (ended?.key ?? 0) ? running?.value.arguments : ended?.value.arguments
  }
}
