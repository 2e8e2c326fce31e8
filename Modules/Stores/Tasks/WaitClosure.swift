/// All nodes that a node waits for, directly and through others, while the current task waits for the node.
struct WaitClosure {
  fileprivate struct Entry {
    let waits: [ObjectIdentifier]
    /// Whether the node continues when one of its waits has ended.
    let needsOne: Bool
  }

  private let start: ObjectIdentifier
  private var entries: [ObjectIdentifier: Entry] = [:]
  // Keeps the nodes alive, so that their identities stay valid.
  private var search = GraphSearch<any WaitNode, ObjectIdentifier>()

  init(of node: any WaitNode) {
    self.start = ObjectIdentifier(node)
    self.search.add(node, self.start)
    while let (step, node) = self.search.next() {
      let id = ObjectIdentifier(node)
      if node.isEndedHere {
        self.entries[id] = Entry(waits: [self.start], needsOne: false)
        continue
      }
      let waits = node.allWaits
      self.entries[id] = Entry(waits: waits.map { ObjectIdentifier($0.node) }, needsOne: node.continuesAfterAnyWait)
      for edge in waits { self.search.add(edge.node, ObjectIdentifier(edge.node), after: step) }
    }
  }

  /// Whether the node can end: it waits for nothing, or for nodes that can end.
  var canEnd: Bool {
    var ending: Set<ObjectIdentifier> = []
    while !ending.contains(self.start) {
      let more = self.entries.filter { id, entry in !ending.contains(id) && entry.canEnd(after: ending) }.keys
      if more.isEmpty { return false }
      ending.formUnion(more)
    }
    return true
  }
}

extension WaitClosure.Entry {
  fileprivate func canEnd(after ending: Set<ObjectIdentifier>) -> Bool {
    if self.waits.isEmpty { return true }
    return self.needsOne ? self.waits.contains { ending.contains($0) } : self.waits.allSatisfy { ending.contains($0) }
  }
}
