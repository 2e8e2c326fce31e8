extension PathIndex {
  /// Returns the node at a path, and creates it and its ancestors if they are missing.
  @usableFromInline
  mutating func insert(_ path: OperationPath) -> NodeID {
    insertRootIfNeeded(for: path)
    var node = Self.root
    var hasher = Hasher()
    for element in path.elements {
      element.hash(into: &hasher)
      let hash = Self.finalize(hasher)
      node = child(of: node, element, hash: hash) ?? addChild(element, hash: hash, to: node)
    }
    return node
  }

  mutating func insertRootIfNeeded(for path: OperationPath) {
    guard nodes.isEmpty else { return }
    reserveCapacity(path.count + 1)
    nodes.append(Node(element: Self.vacant))
  }

  private func child(of parent: NodeID, _ element: OperationPath.Element, hash: UInt32) -> NodeID? {
    if table.isEmpty || nodes[Int(parent)].firstChild == Self.none { return nil }
    return node(hash: hash) { candidate in
      nodes[Int(candidate)].parent == parent && nodes[Int(candidate)].element == element
    }
  }

  /// Marks a node as having a value.
  @usableFromInline
  mutating func markValue(at node: NodeID) {
    if nodes[Int(node)].hasValue { return }
    nodes[Int(node)].hasValue = true
    valueCount += 1
  }

  /// Appends a new child to the children of a node. The hash is the hash of the child's whole path.
  mutating func addChild(_ element: OperationPath.Element, hash: UInt32, to parent: NodeID) -> NodeID {
    let node = Node(element: element, hash: hash, parent: parent)
    let id: NodeID
    if firstFree == Self.none {
      id = NodeID(nodes.count)
      nodes.append(node)
    } else {
      id = firstFree
      firstFree = nodes[Int(id)].next
      freeCount -= 1
      nodes[Int(id)] = node
    }
    linkLast(id, under: parent)
    growTable(for: nodes.count - freeCount)
    place(Entry(node: id, hash: hash))
    return id
  }

  private mutating func linkLast(_ node: NodeID, under parent: NodeID) {
    let first = nodes[Int(parent)].firstChild
    if first == Self.none {
      nodes[Int(parent)].firstChild = node
      nodes[Int(node)].previous = node
    } else {
      let last = nodes[Int(first)].previous
      nodes[Int(last)].next = node
      nodes[Int(node)].previous = last
      nodes[Int(first)].previous = node
    }
  }

  // At most three of five entries are in use.
  private mutating func growTable(for nodeCount: Int) {
    guard nodeCount * 5 > table.count * 3 else { return }
    var placeCount = Swift.max(8, table.count * 2)
    while nodeCount * 5 > placeCount * 3 { placeCount *= 2 }
    let entries = table
    table = ContiguousArray(repeating: Entry(), count: placeCount)
    for entry in entries where entry.node != Self.none { place(entry) }
  }

  private mutating func place(_ entry: Entry) {
    var place = Int(entry.hash) & (table.count - 1)
    while table[place].node != Self.none { place = (place + 1) & (table.count - 1) }
    table[place] = entry
  }

  mutating func reserveCapacity(_ nodeCount: Int) {
    nodes.reserveCapacity(nodeCount)
    growTable(for: nodeCount)
  }
}
