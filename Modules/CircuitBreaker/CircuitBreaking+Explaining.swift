public import OperationCore
internal import OperationFoundation

extension CircuitBreaking: OperationExplaining {
  /// Tells the state of the breaker.
  public func explain(_ store: OpaqueOperationStore, in inspection: inout StoreInspection) {
    let snapshot = self.breaker.snapshot()
    var facts = [snapshot.state.name, "\(snapshot.failures) of \(snapshot.runs) runs have failed"]
    if let end = snapshot.state.openUntil {
      let rest = min(max(end.timeIntervalSince(inspection.date), 0), 3_153_600_000)
      facts[0] += " for \(Duration.seconds(rest).roundedText) more"
    }
    let title = "Circuit breaker" + (self.breaker.name.map { " \($0)" } ?? "")
    inspection.sections.append(StoreInspection.Section(title: title, facts: facts))
  }
}

extension KeyedCircuitBreaking: OperationExplaining {
  /// Tells the breakers of the group that are not closed.
  public func explain(_ store: OpaqueOperationStore, in inspection: inout StoreInspection) {
    let state = self.breakers.snapshot().description
    inspection.sections.append(StoreInspection.Section(title: "Circuit breakers", facts: [state]))
  }
}
