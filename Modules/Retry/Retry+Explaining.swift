public import OperationCore

extension Retry: OperationExplaining {
  /// Adds the greatest number of attempts to the runs under way, and the state of the budget.
  public func explain(_ store: OpaqueOperationStore, in inspection: inout StoreInspection) {
    let context = store.context
    if let budget = self.budget(of: context) {
      let state = budget.snapshot(in: context).description
      let section = StoreInspection.Section(title: "Retry budget", facts: [state])
      // Nested retries use the same budget.
      if !inspection.sections.contains(section) { inspection.sections.append(section) }
    }
    let limit = context.operationMaxRetries
    guard limit > 0 else { return }
    for index in inspection.runs.indices { inspection.runs[index].attemptLimit = limit + 1 }
  }
}
