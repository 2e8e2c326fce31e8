/// Removals for tries that a lock guards. They do not release elements of user types.
extension PathTrie {
  /// Removes the value at a node; `freed` receives the elements that no path contains any longer.
  @inlinable
  package mutating func removeValue(at node: PathIndex.NodeID, freed: inout [OperationPath.Element]) {
    values[Int(node)] = nil
    index.unmarkValue(at: node, freed: &freed)
    shrink()
  }

  /// Removes and returns the values at and below a node; `freed` receives the elements that no path contains now.
  @inlinable
  package mutating func removeAll(within start: PathIndex.NodeID, freed: inout [OperationPath.Element]) -> PathTrie {
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
