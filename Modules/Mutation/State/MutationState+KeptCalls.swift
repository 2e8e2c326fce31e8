package import OperationCore

extension MutationState: CallKeepingState {
  package var keptCalls: [KeptCall] {
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
