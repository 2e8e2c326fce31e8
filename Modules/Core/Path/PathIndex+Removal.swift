extension PathIndex {
  /// Whether so many nodes are free that a copy without them is worth making.
  @usableFromInline
  var isSparse: Bool { nodes.count > 64 && freeCount * 4 > nodes.count * 3 }

  /// Takes the value mark off a node and frees the nodes that lead to no value any more.
  @usableFromInline
  mutating func unmarkValue(at node: NodeID) {
    var freed: [OperationPath.Element] = []
    unmarkValue(at: node, freed: &freed)
  }

  /// Takes the value mark off a node, and hands over the elements of the nodes that lead to no value any more.
  mutating func unmarkValue(at node: NodeID, freed: inout [OperationPath.Element]) {
    guard nodes[Int(node)].hasValue else { return }
    nodes[Int(node)].hasValue = false
    valueCount -= 1
    prune(from: node, freed: &freed)
  }

  /// Frees a node with all its descendants, and the ancestors that lead to no value any more.
  @usableFromInline
  mutating func removeSubtree(at start: NodeID) {
    var freed: [OperationPath.Element] = []
    removeSubtree(at: start, freed: &freed)
  }

  /// Frees a node with all its descendants and the ancestors that lead to no value any more, and hands over their elements.
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
    // Other elements have no deinitializer that could be called.
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
    // Closes the gap: an entry moves into the hole unless it would then lie before the place where its probe starts.
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
