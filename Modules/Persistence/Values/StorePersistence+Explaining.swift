internal import OperationCore
internal import Synchronization

extension StorePersistence: OperationExplaining {
  /// Tells whether the value is stored, and under which name. The key is left out, because it contains the path.
  func explain(_ store: OpaqueOperationStore, in inspection: inout StoreInspection) {
    let (erased, isStored) = self.progress.withLock { ($0.destination, $0.stamp != nil) }
    let destination = self.typed(erased)
    let reason = destination.flatMap { $0.writer.reasonForNotStoring($0.key) }
    let known = isStored ? "stored, or about to be" : "nothing is stored"
    let state = destination == nil ? "no storage" : reason.map { "not stored: \($0)" } ?? known
    let facts = ["\(self.settings.name), version \(self.settings.version)", state]
    inspection.sections.append(StoreInspection.Section(title: "Storage", facts: facts))
  }
}
