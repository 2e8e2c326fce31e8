extension StoreMachine {
  /// If a run has set a value, notifies the object that answers the calls of the store. Errors set no value.
  func note(_ result: RunOutcome, of task: ErasedTask, for answerer: any CallAnswering) {
    guard result.isSuccess else { return }
    answerer.valueWasSet(in: self.state.typed, by: task.context, isWhole: self.state.isReplaced(by: task))
  }

  /// Dates the value anew in place of setting it again. Returns false if that was not possible.
  mutating func renewValue(withCount count: Int, _ outcome: RunOutcome, of task: ErasedTask) -> Bool {
    // An undo log would set the outcome again, because it cannot repeat a renewal.
    guard outcome.isSuccess, !self.hasUndoLog else { return false }
    return self.state.renewValue(withCount: count, of: task)
  }

  /// The state without layers; nil while an invalidation is unanswered.
  var stateForAnswers: (any OperationState & Sendable)? { self.isInvalidated ? nil : self.state.typed }
}
