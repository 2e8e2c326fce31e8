public import FoundationEssentials
public import OperationCore

extension MutationState {
  /// One call of a mutation.
  public struct HistoryEntry: Sendable, Identifiable {
    /// The task that makes the call.
    public let task: OperationTask<Value, Failure>

    /// What the call brought.
    public let arguments: Arguments

    /// When the call started, by the clock of its context.
    public let startDate: Date

    /// What the call has yielded last, or come to; nil when there is nothing yet.
    public private(set) var currentResult: Result<Value, Failure>?

    /// When ``currentResult`` came, by the clock of the context.
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

  /// The newest calls, the oldest of them first: no more than ``MutationRequest/maxHistory(length:)`` says.
  ///
  /// The newest call is always there. Where room must be made, the oldest that has ended goes first, and the oldest
  /// that is under way only when all are. A call that is cancelled leaves.
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
  /// The call in the history whose task has an identifier; nil when it is not there.
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

  /// What happened last to the call.
  public var status: OperationStatus<Value, Failure> {
    guard self.hasEnded else { return .loading }
    return self.currentResult.map { .result($0) } ?? .idle
  }

  /// What the call produced, with what it brought; nil while it runs, and when it failed.
  public var value: MutationOperationValue<Arguments, Value>? {
    guard case .result(.success(let value)) = self.status else { return nil }
    return MutationOperationValue(arguments: self.arguments, returnValue: value)
  }
}

extension MutationState: MutationStateProtocol {
  public var latestArguments: Arguments? {
    let running = self.calls.suffix(1) { $0.entry }.first
    let ended = self.endedCalls.last
    return (running?.key ?? 0) > (ended?.key ?? 0) ? running?.value.arguments : ended?.value.arguments
  }
}
