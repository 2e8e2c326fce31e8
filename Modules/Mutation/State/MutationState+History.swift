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
  /// - Complexity: O(1), or O(*n*) in the number of calls when more are under way than the history has room for.
  public var history: [HistoryEntry] {
    let surplus = self.entries.count - self.historyLength
    guard surplus > 0 else { return self.entries }
    let others = self.entries.dropLast()
    var ended = min(surplus, others.count { $0.hasEnded })
    var running = surplus - ended
    let kept = others.filter { entry in
      if entry.hasEnded {
        ended -= 1
        return ended < 0
      }
      running -= 1
      return running < 0
    }
    return kept + self.entries.suffix(1)
  }

  /// Lets the oldest calls go that have ended, where there are more than the history has room for.
  mutating func trimHistory() {
    guard self.entries.count > self.historyLength else { return }
    var surplus = self.entries.count { $0.hasEnded } - self.historyLength
    while surplus > 0, let index = self.entries.firstIndex(where: { $0.hasEnded }), index < self.entries.count - 1 {
      self.entries.remove(at: index)
      surplus -= 1
    }
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
  public var latestArguments: Arguments? { self.entries.last?.arguments }
}
