internal import OperationCore

extension StorePersistence: OperationExplaining {
  /// Tells whether the value is stored, and under which name. The key is left out, because it contains the path.
  func explain(_ store: OpaqueOperationStore, in explanation: inout OperationExplanation) {
    let (isAttached, isStored) = self.progress.withLock { ($0.destination != nil, $0.stamp != nil) }
    let state = isAttached ? (isStored ? "stored, or about to be" : "nothing is stored") : "no storage"
    let facts = ["\(self.settings.name), version \(self.settings.version)", state]
    explanation.sections.append(OperationExplanation.Section(title: "Storage", facts: facts))
  }
}
