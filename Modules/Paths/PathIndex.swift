/// The paths of a trie: nodes in one array, found by the hash of their whole path in one hash table.
///
/// Nodes refer to each other by position. So a node needs no allocation of its own, paths of any length need no
/// recursion, and the code does not depend on the type of the values, which `PathTrie` stores at the positions of their
/// nodes.
@usableFromInline
package struct PathIndex: Sendable {
  /// The position of a node.
  ///
  /// The position of the root is 0, which as a child, a sibling or a table entry means "none".
  @usableFromInline
  package typealias NodeID = UInt32

  @usableFromInline
  struct Node: Sendable {
    var element: OperationPath.Element
    var hasValue = false
    var hash: UInt32 = 0
    var parent: NodeID = 0
    var firstChild: NodeID = 0
    var next: NodeID = 0
    // For the first child: the last child, so that appending a child does not traverse the others.
    var previous: NodeID = 0
  }

  /// An entry of the hash table: a node and the hash of its path, at which the probe for it starts.
  struct Entry: Sendable {
    var node: NodeID = none
    var hash: UInt32 = 0
  }

  @usableFromInline package static let root: NodeID = 0
  static let none: NodeID = 0
  // The element of the root and of free nodes, so that no user's value lives longer than its node.
  static let vacant = OperationPath.Element(0)

  // Empty while the trie has no values.
  @usableFromInline var nodes: ContiguousArray<Node> = []
  @usableFromInline var valueCount = 0
  @usableFromInline var freeCount = 0
  var firstFree: NodeID = none
  // Open addressing with linear probing. The number of entries is a power of two.
  var table: ContiguousArray<Entry> = []

  init() {}
}

extension PathIndex {
  @usableFromInline
  package func node(at path: OperationPath) -> NodeID? {
    if path.elements.isEmpty { return nodes.isEmpty ? nil : Self.root }
    guard !table.isEmpty else { return nil }
    return path.elements.withUnsafeBufferPointer { elements -> NodeID? in
      var hasher = Hasher()
      for position in elements.indices { elements[position].hash(into: &hasher) }
      let hash = Self.finalize(hasher)
      return node(hash: hash) { candidate in isNode(candidate, at: elements) }
    }
  }

  @inline(__always)
  func node(hash: UInt32, where isMatch: (NodeID) -> Bool) -> NodeID? {
    let mask = table.count - 1
    var place = Int(hash) & mask
    while true {
      let entry = table[place]
      if entry.node == Self.none { return nil }
      if entry.hash == hash, isMatch(entry.node) { return entry.node }
      place = (place + 1) & mask
    }
  }

  private func isNode(_ node: NodeID, at elements: UnsafeBufferPointer<OperationPath.Element>) -> Bool {
    var node = node
    var position = elements.count - 1
    while nodes[Int(node)].element == elements[position] {
      node = nodes[Int(node)].parent
      if position == 0 || node == Self.root { return position == 0 && node == Self.root }
      position -= 1
    }
    return false
  }

  @inline(__always)
  static func finalize(_ hasher: Hasher) -> UInt32 {
    UInt32(truncatingIfNeeded: hasher.finalize())
  }
}
