/// A map from integers to elements in the order of the integers, as a tree whose versions share what they have in common.
///
/// Reading and changing touch one node a level, and a node has room for many, so that both cost the same for ten elements
/// and for thousands. A change copies only the touched nodes that another version refers to.
@usableFromInline
package struct OrderedTree<Element> {
  @usableFromInline var root: Node?

  /// Creates an empty tree.
  @inlinable
  package init() {}

  @inlinable
  package var count: Int { self.root?.count ?? 0 }

  @inlinable
  package var isEmpty: Bool { self.root == nil }

  /// The smallest key.
  @inlinable
  package var firstKey: Int? { self.root?.firstKey }

  /// The greatest key.
  @inlinable
  package var lastKey: Int? { self.root?.lastKey }

  /// Whether both are one and the same version.
  @inlinable
  package func isIdentical(to other: OrderedTree) -> Bool { self.root === other.root }
}

extension OrderedTree {
  /// The element of a key. Setting nil removes it.
  @inlinable
  package subscript(key: Int) -> Element? {
    get { self.root?.element(of: key) }
    set {
      if let newValue { self.insert(newValue, for: key) } else { self.removeValue(for: key) }
    }
  }

  /// The element that has `offset` others before it.
  ///
  /// - Precondition: `offset` is not negative and less than the count.
  @inlinable
  package func element(at offset: Int) -> Element {
    guard let root, offset >= 0, offset < root.count else {
      preconditionFailure("The offset \(offset) is out of bounds: there are \(self.count) elements.")
    }
    return root.element(at: offset)
  }

  /// How many elements come before the one of `key`; nil when there is none.
  @inlinable
  package func offset(of key: Int) -> Int? { self.root?.offset(of: key) }

  @inlinable
  mutating func insert(_ element: Element, for key: Int) {
    guard let root = self.uniqueRoot() else {
      self.root = Node(leaves: [.init(key: key, element: element)])
      return
    }
    guard let sibling = root.insert(element, for: key) else { return }
    self.root = Node(branches: [.init(root), .init(sibling)])
  }

  @inlinable
  mutating func removeValue(for key: Int) {
    guard self[key] != nil, let root = self.uniqueRoot() else { return }
    root.remove(key)
    while let root = self.root, let only = root.onlyChild { self.root = only }
    if self.root?.count == 0 { self.root = nil }
  }

  @inlinable
  mutating func uniqueRoot() -> Node? {
    if self.root != nil, !isKnownUniquelyReferenced(&self.root) { self.root = self.root?.copy() }
    return self.root
  }
}

extension OrderedTree {
  /// Calls `body` for all elements in order.
  @inlinable
  package func visit<E: Error>(_ body: (Element) throws(E) -> Void) throws(E) {
    try self.root?.visit(body)
  }

  /// What names the nodes of this version: those that two versions have in common are in both.
  package var nodeIdentifiers: Set<ObjectIdentifier> {
    var identifiers: Set<ObjectIdentifier> = []
    var pending = [self.root].compactMap { $0 }
    while let node = pending.popLast() {
      identifiers.insert(ObjectIdentifier(node))
      pending += node.branches.map(\.node)
    }
    return identifiers
  }
}

extension OrderedTree: Sendable where Element: Sendable {}
