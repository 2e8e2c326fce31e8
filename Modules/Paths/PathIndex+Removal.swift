extension PathIndex {
  /// Whether enough nodes are free for a copy without them to be worthwhile.
  @usableFromInline var isSparse: Bool { nodes.count > 64 && freeCount * 4 > nodes.count * 3 }

  /// Marks a node as having no value, and frees the nodes that no longer lead to a value.
  @usableFromInline
  mutating func unmarkValue(at node: NodeID) {
    var freed: [OperationPath.Element] = []
    unmarkValue(at: node, freed: &freed)
  }

  /// Marks a node as having no value, frees the nodes that no longer lead to a value, and appends their elements.
  @usableFromInline
  mutating func unmarkValue(at node: NodeID, freed: inout [OperationPath.Element]) {
    guard nodes[Int(node)].hasValue else { return }
    nodes[Int(node)].hasValue = false
    valueCount -= 1
    prune(from: node, freed: &freed)
  }

  /// Frees a node with its descendants, and the ancestors that no longer lead to a value.
  @usableFromInline
  mutating func removeSubtree(at start: NodeID) {
    var freed: [OperationPath.Element] = []
    removeSubtree(at: start, freed: &freed)
  }

  /// Frees a node with its descendants and the ancestors that no longer lead to a value, and appends their elements.
  @usableFromInline
  mutating func removeSubtree(at start: NodeID, freed: inout [OperationPath.Element]) {
    var node = start
    while true {
      while nodes[Int(node)].firstChild != Self.none { node = nodes[Int(node)].firstChild }
      if nodes[Int(node)].hasValue {
        nodes[Int(node)].hasValue = false
        valueCount -= 1
      }
      if node == start { break }
      let parent = nodes[Int(node)].parent
      free(node, freed: &freed)
      node = parent
    }
    prune(from: start, freed: &freed)
  }

  private mutating func prune(from start: NodeID, freed: inout [OperationPath.Element]) {
    var node = start
    while !nodes[Int(node)].hasValue, nodes[Int(node)].firstChild == Self.none {
      if node == Self.root {
        self = PathIndex()
        return
      }
      let parent = nodes[Int(node)].parent
      free(node, freed: &freed)
      node = parent
    }
  }

  private mutating func free(_ node: NodeID, freed: inout [OperationPath.Element]) {
    removeFromTable(node)
    unlink(node)
    // Strings and integers run no deinitializer of a user's type.
    if case .erased = nodes[Int(node)].element.payload { freed.append(nodes[Int(node)].element) }
    nodes[Int(node)] = Node(element: Self.vacant, next: firstFree)
    firstFree = node
    freeCount += 1
  }

  private mutating func unlink(_ node: NodeID) {
    let (parent, next, previous) = (nodes[Int(node)].parent, nodes[Int(node)].next, nodes[Int(node)].previous)
    let first = nodes[Int(parent)].firstChild
    if first == node {
      nodes[Int(parent)].firstChild = next
      if next != Self.none { nodes[Int(next)].previous = previous }
    } else {
      nodes[Int(previous)].next = next
      nodes[Int(next == Self.none ? first : next)].previous = previous
    }
  }

  private mutating func removeFromTable(_ node: NodeID) {
    let mask = table.count - 1
    var hole = Int(nodes[Int(node)].hash) & mask
    while table[hole].node != node { hole = (hole + 1) & mask }
    // Closes the gap: moves an entry into the hole, unless the hole is before the position at which the probe for the
    // entry starts.
    var place = (hole + 1) & mask
    while table[place].node != Self.none {
      if (place - Int(table[place].hash)) & mask >= (place - hole) & mask {
        table[hole] = table[place]
        hole = place
      }
      place = (place + 1) & mask
    }
    table[hole] = Entry()
  }
}
