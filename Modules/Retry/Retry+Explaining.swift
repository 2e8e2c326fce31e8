public import OperationCore

extension Retry: OperationExplaining {
  /// Adds the greatest number of attempts to the runs under way.
  public func explain(_ store: OpaqueOperationStore, in explanation: inout OperationExplanation) {
    let limit = store.context.operationMaxRetries
    guard limit > 0 else { return }
    for index in explanation.runs.indices { explanation.runs[index].attemptLimit = limit + 1 }
  }
}
