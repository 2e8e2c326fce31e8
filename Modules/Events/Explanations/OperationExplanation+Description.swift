internal import OperationCore
internal import OperationFoundation

extension OperationExplanation: CustomStringConvertible {
  /// The explanation in sentences, with a line for each part.
  public var description: String {
    guard let name = self.operationName else { return self.descriptionOfAbsence }
    let lines: [String?] = [
      "\(name) at \(self.path)",
      self.isRemoved ? "Its client no longer has it." : nil,
      self.valueSentence,
      self.value?.origin,
      self.failureSentence,
      self.isRestoring ? "The value that an earlier store had is being read from the storage." : nil,
      self.layerSentence,
      self.stalenessSentence,
      self.subscriberSentence,
      self.automaticRunObstacle,
    ]
    let endedRuns = self.endedRuns.map { "  \($0)" }
    let rest: [String?] = [
      self.plans.isEmpty
        ? nil
        : "Next: " + self.plans.map { "it \($0)" }.joined(separator: "; ") + ".",
      self.notices.isEmpty ? nil : "Notices: " + self.notices.map(\.description).joined(separator: "; ") + ".",
      self.modifiers.isEmpty ? nil : "Modifiers, from the outside in: " + self.modifiers.joined(separator: ", "),
    ]
    let sections = self.sections.filter { !$0.facts.isEmpty }.map(\.description)
    let before = lines.compactMap(\.self) + self.runs.map(\.description)
    let history = endedRuns.isEmpty ? [] : ["Earlier runs, newest first:"] + endedRuns
    return (before + history + sections + rest.compactMap(\.self)).joined(separator: "\n")
  }

  private var descriptionOfAbsence: String {
    let below = self.storesBelow == 0 ? "" : " It has \(ShownText.count(self.storesBelow, "store")) below."
    return "There is no store at \(self.path).\(below)"
  }

  private var valueSentence: String {
    guard let value = self.value else {
      if self.failure == nil, self.runs.isEmpty, self.endedRuns.isEmpty { return "It has never run." }
      return "It has no value."
    }
    let text = value.typeAndSize.map { "a value (\($0))" } ?? "the value nil"
    guard let age = value.age else { return "It has \(text) from the beginning." }
    return "It has \(text), set \(age.roundedText) ago."
  }

  private var failureSentence: String? {
    self.failure.map { "Its last result is an error of \($0.age.roundedText) ago: \($0.text)." }
  }

  private var layerSentence: String? {
    let authors = self.layerAuthors.compactMap(\.self)
    switch self.layerCount {
    case 0: return nil
    case 1: return "An optimistic update\(authors.first.map { " of \($0)" } ?? "") is shown on top of it."
    default:
      let list = authors.isEmpty ? "" : ": " + authors.joined(separator: ", ")
      return "\(self.layerCount) optimistic updates are shown on top of it\(list)."
    }
  }

  private var stalenessSentence: String? {
    guard let staleness = self.staleness, let date = self.date else { return nil }
    if let explanation = staleness.explanation {
      let since = staleness.since.map { Duration.since($0, at: date).roundedText }
      return since.map { "It has been stale for \($0), because \(explanation)." }
        ?? "It is stale, because \(explanation)."
    }
    if staleness.reason == .neverRefreshed { return nil }
    guard let end = staleness.freshUntil else { return "It is fresh." }
    return "It is fresh for \(Duration.since(date, at: end).roundedText) more."
  }

  private var subscriberSentence: String {
    let names = self.subscribers.compactMap(\.self)
    let unnamed = self.subscribers.count - names.count
    var parts = names
    if unnamed > 0, !names.isEmpty { parts.append("\(unnamed) without a name") }
    let list = parts.isEmpty ? "" : ": " + parts.joined(separator: ", ")
    switch self.subscribers.count {
    case 0: return "It has no subscribers."
    case 1: return "One subscriber keeps it\(list)."
    default: return "\(self.subscribers.count) subscribers keep it\(list)."
    }
  }
}

extension OperationExplanation.Run: CustomStringConvertible {
  /// What the run does, in a sentence.
  public var description: String {
    let age = self.age.map { "\($0.roundedText) ago " } ?? ""
    let parts: [String?] = [
      "started \(age)by \(self.cause)", self.pauseClause, self.waitClause, self.attemptClause, self.failureClause,
      self.timeClause, self.joinClause, self.followClause,
    ]
    return "A run is under way: " + parts.compactMap(\.self).joined(separator: "; ") + "."
  }

  private var pauseClause: String? {
    guard let pause, let pauseAge else { return nil }
    return "it has waited for \(pauseAge.roundedText) until \(pause)"
  }

  private var waitClause: String? {
    if self.waits.isEmpty { return nil }
    let clauses = self.waits.map { wait in
      wait.age.map { "it has waited for \($0.roundedText) for \(wait.subject)" } ?? "it waits for \(wait.subject)"
    }
    return clauses.joined(separator: "; ")
  }

  private var attemptClause: String? {
    guard let attempt else { return nil }
    let number = "attempt \(attempt)" + (self.attemptLimit.map { " of \($0)" } ?? "")
    guard let nextAttempt else { return "it is in \(number)" }
    return "\(number) begins in \(nextAttempt.roundedText)" + (self.nextAttemptReason.map { ", because \($0)" } ?? "")
  }

  private var failureClause: String? {
    guard let lastFailure, let attempt else { return nil }
    return "attempt \(attempt - 1) failed: \(lastFailure)"
  }

  private var timeClause: String? { self.timeLeft.map { "its time is over in \($0.roundedText)" } }

  private var joinClause: String? {
    switch self.joinedCallers {
    case 0: nil
    case 1: "another caller has joined it"
    default: "\(self.joinedCallers) other callers have joined it"
    }
  }

  private var followClause: String? {
    if self.isCurrent { return nil }
    return self.isFollowed
      ? "the store was invalidated while it ran, so another run follows" : "its result no longer counts"
  }
}

extension OperationExplanation.EndedRun: CustomStringConvertible {
  /// How the run has ended, when, and why it had begun.
  public var description: String {
    "\(self.age.roundedText) ago: \(self.end), started by \(self.cause)"
  }
}

extension OperationExplanation.Notice: CustomStringConvertible {
  /// The notice and its age.
  public var description: String { "\(self.text) \(self.age.roundedText) ago" }
}

extension OperationExplanation.Plan: CustomStringConvertible {
  /// What happens and when.
  public var description: String { "\(self.action) in \(self.delay.roundedText)" }
}
