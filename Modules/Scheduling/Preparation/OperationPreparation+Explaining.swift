public import OperationCore

extension OperationPreparation: OperationExplaining {
  /// Tells the conditions of the operation, and who holds its categories.
  public func explain(_ store: OpaqueOperationStore, in inspection: inout StoreInspection) {
    let conditions = self.steps.conditions.map(\.conditionName)
    let categories = self.steps.lanes.map { lane in
      let (holder, waiting) = ExclusionLock.use(of: lane.slot)
      let count = waiting == 0 ? "" : ", \(waiting) waiting"
      return "\(lane.category), \(holder.map { "held by \($0.name)" } ?? "free")\(count)"
    }
    for (title, facts) in [("Conditions", conditions), ("Categories", categories)] where !facts.isEmpty {
      inspection.sections.append(StoreInspection.Section(title: title, facts: facts))
    }
  }
}
