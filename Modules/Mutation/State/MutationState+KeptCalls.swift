public import OperationCore

extension MutationState: CallKeepingState {
  /// The calls in the history, newest first.
  public var keptCalls: [KeptCall] {
    self.history.reversed().map { entry in
      var error: (any Error)?
      if case .failure(let failure)? = entry.currentResult { error = failure }
      return KeptCall(
        task: entry.id,
        arguments: entry.arguments,
        start: entry.startDate,
        hasEnded: entry.hasEnded,
        error: error
      )
    }
  }
}
