public import OperationCore

extension Hedge: OperationExplaining {
  /// Tells the numbers of the hedges, and the state of their budget.
  public func explain(_ store: OpaqueOperationStore, in explanation: inout OperationExplanation) {
    let snapshot = self.settings.snapshot(in: store.context)
    var facts = [snapshot.description]
    if let budget = snapshot.budget { facts.append("budget \(budget)") }
    explanation.sections.append(OperationExplanation.Section(title: "Hedge", facts: facts))
  }
}
