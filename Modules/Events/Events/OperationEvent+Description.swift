internal import OperationCore
internal import OperationFoundation

extension OperationEvent: CustomStringConvertible {
  /// The operation, its path and the event, in one line.
  public var description: String {
    "\(self.operationName) at \(ShownText.of(self.path)): " + self.sentence
  }

  /// The event without the operation: `run #7 began, started by a call`.
  package var sentence: String {
    let run = self.run.map { "run \($0) " } ?? ""
    switch self.what {
    case .runBegan: return "\(run)began, started by \(self.cause?.description ?? "a call")"
    case .resumed, .paused, .waits, .waited, .runEnded, .yielded: return "\(run)\(self.what)"
    case .attemptFailed, .attemptBegan: return (self.run.map { "run \($0): " } ?? "") + self.what.description
    case .runJoined: return "a caller joined \(self.run.map { "run \($0)" } ?? "a run")"
    case .storeRemoved(.evicted): return "\(self.what)" + (self.cause.map { " because of \($0)" } ?? "")
    case .stateWritten(.restored): return "\(self.what)"
    case .stateWritten, .storeRemoved: return "\(self.what)" + (self.cause.map { " by \($0)" } ?? "")
    default: return "\(self.what)"
    }
  }
}

extension OperationEvent.What: CustomStringConvertible {
  /// The event without the operation and the run.
  public var description: String {
    switch self {
    case .runBegan: "began"
    case .runJoined: "a caller joined"
    case .attemptFailed(let failure): failure.description
    case .attemptBegan(let attempt): "attempt \(attempt) began"
    case .paused(let reason): "waits until \(reason)"
    case .resumed(let reason, let duration, "satisfied"): "resumed after \(duration.roundedText): \(reason)"
    case .resumed(let reason, let duration, let outcome):
      "stopped waiting after \(duration.roundedText) until \(reason): \(outcome)"
    case .waits(let subject): "waits for \(subject)"
    case .waited(let subject, let duration): "has waited for \(duration.roundedText) for \(subject)"
    case .yielded(nil): "yielded a value"
    case .yielded(let failure?): "yielded an error: \(failure)"
    case .runEnded(let end): end.description
    case .stateWritten(let write): write.description
    case .invalidated(let cause): "invalidated: \(cause)"
    case .becameStale(let reason): "became stale, because \(reason)"
    case .subscriberCame(let name, let count): "\(name ?? "a subscriber") came, now \(count)"
    case .subscriberLeft(let name, let count): "\(name ?? "a subscriber") left, now \(count)"
    case .storeAdded: "store added"
    case .storeRemoved(let removal): "store removed: \(removal.rawValue)"
    case .notice(let notice): "notice \(notice)"
    }
  }

  /// The name of the case, in lowercase words with a dot between them: `run.began`.
  public var name: String {
    switch self {
    case .runBegan: "run.began"
    case .runJoined: "run.joined"
    case .attemptFailed: "attempt.failed"
    case .attemptBegan: "attempt.began"
    case .paused: "run.paused"
    case .resumed: "run.resumed"
    case .waits: "run.waits"
    case .waited: "run.waited"
    case .yielded: "run.yielded"
    case .runEnded: "run.ended"
    case .stateWritten: "state.written"
    case .invalidated: "store.invalidated"
    case .becameStale: "store.stale"
    case .subscriberCame: "subscriber.came"
    case .subscriberLeft: "subscriber.left"
    case .storeAdded: "store.added"
    case .storeRemoved: "store.removed"
    case .notice: "notice"
    }
  }
}

extension OperationEvent.AttemptFailure: CustomStringConvertible {
  /// The attempt, its error and when the next one begins.
  public var description: String {
    let failure = self.failure.map { " failed: \($0)" } ?? " asks for another one"
    let next = self.next.map { "; next in \($0.roundedText)" } ?? ""
    return "attempt \(self.attempt)\(failure)\(next)" + (self.reason.map { ", because \($0)" } ?? "")
  }
}

extension OperationEvent.RunEnd: CustomStringConvertible {
  /// The outcome, the duration and the error.
  public var description: String {
    let outcome: String =
      switch self.outcome {
      case .success: "succeeded"
      case .failure: "failed"
      case .cancellation: "was cancelled"
      }
    let duration = self.duration.map { " after \($0.roundedText)" } ?? ""
    return outcome + duration + (self.failure.map { ": \($0)" } ?? "")
  }
}

extension OperationEvent: Encodable {
  private enum CodingKeys: String, CodingKey {
    case number, path, operation, run, cause, date, elapsed, event, text
  }

  /// Encodes the event with the name of its case, as `event`, and its description, as `text`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(self.number, forKey: .number)
    try container.encode(ShownText.of(self.path), forKey: .path)
    try container.encode(self.operationName, forKey: .operation)
    try container.encodeIfPresent(self.run.map { "\($0)" }, forKey: .run)
    try container.encodeIfPresent(self.cause, forKey: .cause)
    try container.encode(self.date, forKey: .date)
    try container.encode(self.elapsed / .seconds(1), forKey: .elapsed)
    try container.encode(self.what.name, forKey: .event)
    try container.encode(self.sentence, forKey: .text)
  }
}
