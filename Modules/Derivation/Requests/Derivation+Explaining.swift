internal import OperationCore

extension DerivationController: OperationExplaining {
  /// Tells the sources of the query, and whether they are stale.
  func explain(_ store: OpaqueOperationStore, in inspection: inout StoreInspection) {
    let sources = (self.node.commit?.readings ?? [:]).values.compactMap(\.source)
    let facts = sources.map { ShownText.of($0.path) + ($0.isStale ? ", stale" : ", fresh") }
    inspection.sections.append(StoreInspection.Section(title: "Sources", facts: facts.sorted()))
  }
}
