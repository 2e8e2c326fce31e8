public import OperationCore
internal import OperationFoundation

extension CircuitBreaking: OperationExplaining {
  /// Tells the state of the breaker.
  public func explain(_ store: OpaqueOperationStore, in explanation: inout OperationExplanation) {
    let snapshot = self.breaker.snapshot()
    var facts = [snapshot.state.name, "\(snapshot.failures) of \(snapshot.runs) runs have failed"]
    if let end = snapshot.state.openUntil, let date = explanation.date {
      facts[0] += " for \(Duration.seconds(min(max(end.timeIntervalSince(date), 0), 3_153_600_000)).roundedText) more"
    }
    let title = "Circuit breaker" + (snapshot.name.map { " \($0)" } ?? "")
    explanation.sections.append(OperationExplanation.Section(title: title, facts: facts))
  }
}

extension KeyedCircuitBreaking: OperationExplaining {
  /// Tells the breakers of the group that are not closed.
  public func explain(_ store: OpaqueOperationStore, in explanation: inout OperationExplanation) {
    let state = self.breakers.snapshot().description
    explanation.sections.append(OperationExplanation.Section(title: "Circuit breakers", facts: [state]))
  }
}
