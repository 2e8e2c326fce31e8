/// Changes for tries that a lock guards. They do not hash, compare or release elements of user types.
extension PathTrie {
  /// Inserts a value, or replaces the value at its path and returns the replaced one.
  ///
  /// Elements that have not been compared count as different.
  mutating func updateValue(_ value: Value, at search: PathSearch) -> Value? {
    let node = self.insert(search)
    let replaced = self.values[Int(node)]
    self.values[Int(node)] = value
    return replaced
  }

  private mutating func insert(_ search: PathSearch) -> PathIndex.NodeID {
    let node = index.insert(search)
    if values.isEmpty { values.reserveCapacity(index.nodes.count) }
    while values.count < index.nodes.count { values.append(nil) }
    index.markValue(at: node)
    return node
  }

  /// Removes the value at a node; `freed` receives the elements that no path contains any longer.
  mutating func removeValue(at node: PathIndex.NodeID, freed: inout [OperationPath.Element]) {
    values[Int(node)] = nil
    index.unmarkValue(at: node, freed: &freed)
    shrink()
  }

  /// Removes and returns the values at and below a node; `freed` receives the elements that no path contains now.
  mutating func removeAll(within start: PathIndex.NodeID, freed: inout [OperationPath.Element]) -> PathTrie {
    if start == PathIndex.root { return removeAll() }
    let removed = subtree(at: start)
    var next = index.firstValue(within: start)
    while let node = next {
      values[Int(node)] = nil
      next = index.nextValue(after: node, within: start)
    }
    index.removeSubtree(at: start, freed: &freed)
    shrink()
    return removed
  }
}
