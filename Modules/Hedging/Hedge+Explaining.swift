public import OperationCore

extension Hedge: OperationExplaining {
  /// Tells the numbers of the hedges, and the state of their budget.
  public func explain(_ store: OpaqueOperationStore, in inspection: inout StoreInspection) {
    let snapshot = self.settings.snapshot(in: store.context)
    var facts = [snapshot.description]
    if let budget = snapshot.budget { facts.append("budget \(budget)") }
    inspection.sections.append(StoreInspection.Section(title: "Hedge", facts: facts))
  }
}
