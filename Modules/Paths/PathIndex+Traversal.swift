extension PathIndex {
  /// Returns the next node among a node's descendants: parents first, siblings in the order of their insertion.
  func successor(of node: NodeID, within start: NodeID) -> NodeID? {
    var node = node
    if nodes[Int(node)].firstChild != Self.none { return nodes[Int(node)].firstChild }
    while node != start {
      if nodes[Int(node)].next != Self.none { return nodes[Int(node)].next }
      node = nodes[Int(node)].parent
    }
    return nil
  }

  /// Returns the first node with a value among the given node and its descendants.
  @usableFromInline
  func firstValue(within start: NodeID) -> NodeID? {
    nodes[Int(start)].hasValue ? start : nextValue(after: start, within: start)
  }

  /// Returns the next node with a value among a node's descendants.
  @usableFromInline
  func nextValue(after node: NodeID, within start: NodeID) -> NodeID? {
    var node = node
    while let next = successor(of: node, within: start) {
      if nodes[Int(next)].hasValue { return next }
      node = next
    }
    return nil
  }

  /// Copies a node with its descendants and ancestors.
  ///
  /// - Returns: The copy and its sources: the nodes from which its last nodes (the start and its descendants) were
  ///   copied, in the same order.
  @usableFromInline
  func subtree(at start: NodeID) -> (copy: PathIndex, sources: ContiguousArray<NodeID>) {
    let count = descendantCount(of: start) + 1
    var copy = PathIndex()
    var sources: ContiguousArray<NodeID> = []
    sources.reserveCapacity(count)
    var (node, copied) = (start, self.copyAncestors(of: start, into: &copy, scratch: &sources, capacity: count))
    while true {
      if nodes[Int(node)].hasValue { copy.markValue(at: copied) }
      sources.append(node)
      var parent = copied
      var next = nodes[Int(node)].firstChild
      while next == Self.none, node != start {
        parent = copy.nodes[Int(parent)].parent
        next = nodes[Int(node)].next
        node = nodes[Int(node)].parent
      }
      if next == Self.none { return (copy, sources) }
      node = next
      copied = copy.addChild(nodes[Int(node)].element, hash: nodes[Int(node)].hash, to: parent)
    }
  }

  /// Copies the nodes of a path without hashing their elements again.
  ///
  /// - Parameters:
  ///   - start: The last node of the path, which is copied, too.
  ///   - copy: An empty index, which receives the copies.
  ///   - scratch: An empty array, which is empty again afterwards. Its capacity saves an allocation.
  ///   - capacity: The number of other nodes for which the copy reserves memory.
  /// - Returns: The copy of `start`.
  private func copyAncestors(
    of start: NodeID,
    into copy: inout PathIndex,
    scratch: inout ContiguousArray<NodeID>,
    capacity: Int
  ) -> NodeID {
    var node = start
    while node != Self.root {
      scratch.append(node)
      node = nodes[Int(node)].parent
    }
    copy.reserveCapacity(scratch.count + capacity)
    copy.nodes.append(Node(element: Self.vacant))
    var copied = Self.root
    while let node = scratch.popLast() {
      copied = copy.addChild(nodes[Int(node)].element, hash: nodes[Int(node)].hash, to: copied)
    }
    return copied
  }

  private func descendantCount(of start: NodeID) -> Int {
    if start == Self.root { return nodes.count - freeCount - 1 }
    var (node, count) = (start, 0)
    while let next = successor(of: node, within: start) {
      node = next
      count += 1
    }
    return count
  }
}
