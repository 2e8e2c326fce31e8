internal import OperationCore

extension TaggedStore: OperationExplaining {
  private static let maximumFacts = 20

  /// Tells the tags of the value that the store shows.
  func explain(_ store: OpaqueOperationStore, in inspection: inout StoreInspection) {
    self.settle()
    let tags = self.index.withLock { _ in self.allTags }
    var facts = tags.withoutDuplicates.map(\.description).sorted()
    if facts.count > Self.maximumFacts {
      facts = facts.prefix(Self.maximumFacts) + ["and \(facts.count - Self.maximumFacts) more"]
    }
    inspection.sections.append(StoreInspection.Section(title: "Tags", facts: facts))
  }
}
