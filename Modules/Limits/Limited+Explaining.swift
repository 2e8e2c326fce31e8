public import OperationCore

extension Limited: OperationExplaining {
  /// Tells the state of the limit, if it describes itself.
  public func explain(_ store: OpaqueOperationStore, in explanation: inout OperationExplanation) {
    guard let limit = self.limit as? any CustomStringConvertible else { return }
    explanation.sections.append(OperationExplanation.Section(title: "Limit", facts: [limit.description]))
  }
}
