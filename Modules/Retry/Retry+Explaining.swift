public import OperationCore

extension Retry: OperationExplaining {
  /// Adds the greatest number of attempts to the runs under way, and tells the state of the budget.
  public func explain(_ store: OpaqueOperationStore, in explanation: inout OperationExplanation) {
    let context = store.context
    if let budget = self.budget(of: context) {
      let state = budget.snapshot(in: context).description
      let section = OperationExplanation.Section(title: "Retry budget", facts: [state])
      // Nested retries use the same budget.
      if !explanation.sections.contains(section) { explanation.sections.append(section) }
    }
    let limit = context.operationMaxRetries
    guard limit > 0 else { return }
    for index in explanation.runs.indices { explanation.runs[index].attemptLimit = limit + 1 }
  }
}
