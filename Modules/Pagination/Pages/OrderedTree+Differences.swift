extension OrderedTree {
  /// Calls `body` with the elements in the nodes that the two versions do not share.
  ///
  /// These are all elements that differ, and some that are equal.
  ///
  /// - Complexity: O(*k* log *n*), where *k* is the number of nodes that are not shared.
  func visitUnshared(with other: OrderedTree, _ body: (Element) -> Void) {
    self.root.visitUnshared(with: other.root, body)
  }
}

extension OrderedTree.Node {
  fileprivate func visitUnshared(with other: Self, _ body: (Element) -> Void) {
    switch self {
    case .leaves(let leaves):
      if leaves.isEmpty || other.contains(self, at: leaves[0].key) { return }
      for leaf in leaves { body(leaf.element) }
    case .branches(let branches):
      if other.contains(self, at: branches[0].firstKey) { return }
      for branch in branches { branch.node.visitUnshared(with: other, body) }
    }
  }

  /// Whether the subtree contains this very node, whose first key is `key`.
  private func contains(_ node: Self, at key: Int) -> Bool {
    if self.identifier == node.identifier { return true }
    guard case .branches(let branches) = self, !branches.isEmpty else { return false }
    return branches[Self.index(of: key, in: branches)].node.contains(node, at: key)
  }
}
