/// A map from integers to elements, ordered by the integers: a tree whose versions share their common nodes.
///
/// Reading and changing touch one node per level. A node has room for many elements, so both cost about the same for
/// ten elements and for thousands. A change copies only the touched nodes that another version refers to.
@usableFromInline
package struct OrderedTree<Element> {
  @usableFromInline var root = Node.leaves([])
  @usableFromInline package internal(set) var count = 0

  /// Creates an empty tree.
  @inlinable
  package init() {}

  @inlinable
  package var isEmpty: Bool { self.count == 0 }

  /// The smallest key with its element.
  @inlinable
  var first: Leaf? { self.isEmpty ? nil : self.root.first }

  /// The greatest key with its element.
  @inlinable
  var last: Leaf? { self.isEmpty ? nil : self.root.last }

  /// Whether both are the same version.
  package func isIdentical(to other: OrderedTree) -> Bool { self.root.identifier == other.root.identifier }
}

extension OrderedTree {
  /// The element of a key. Setting nil removes it.
  @inlinable
  package subscript(key: Int) -> Element? {
    get { self.root.element(of: key) }
    set {
      if let newValue { self.insert(newValue, for: key) } else { self.removeValue(for: key) }
    }
  }

  /// The element with `offset` elements before it.
  ///
  /// - Precondition: `offset` is not negative and less than the count.
  @inlinable
  package func element(at offset: Int) -> Element { self.leaf(at: offset).element }

  /// The leaf with `offset` leaves before it.
  ///
  /// - Precondition: `offset` is not negative and less than the count.
  @inlinable
  func leaf(at offset: Int) -> Leaf {
    precondition(
      offset >= 0 && offset < self.count,
      "The offset \(offset) is out of bounds: there are \(self.count) elements."
    )
    return self.root.leaf(at: offset)
  }

  /// The number of elements before the one of `key`. Nil if the key has none.
  @inlinable
  package func offset(of key: Int) -> Int? { self.root.offset(of: key) }

  @inlinable
  mutating func insert(_ element: Element, for key: Int) {
    if let sibling = self.root.insert(element, for: key) {
      self.root = .branches([.init(self.root), .init(sibling)])
    }
    self.count = self.root.count
  }

  /// Appends an element. Its key must be greater than all others.
  ///
  /// The last leaves are kept in a node directly below the root until that node is full. So an append copies that node
  /// and a root of two branches, and none of the nodes between the root and the other leaves.
  @inlinable
  mutating func append(_ element: Element, for key: Int) {
    if self.isEmpty || self.root.hasRoomAtEnd { return self.insert(element, for: key) }
    self.root.foldTail()
    self.root = .branches([.init(self.root), .init(.leaves([.init(key: key, element: element)]))])
    self.count += 1
  }

  @inlinable
  mutating func removeValue(for key: Int) {
    guard self[key] != nil else { return }
    self.root.remove(key)
    self.count -= 1
    while case .branches(let branches) = self.root, branches.count == 1 { self.root = branches[0].node }
  }
}

extension OrderedTree {
  /// Calls `body` for all elements in order.
  @inlinable
  package func visit<E: Error>(_ body: (Element) throws(E) -> Void) throws(E) {
    try self.root.visit { leaf throws(E) in try body(leaf.element) }
  }

  /// Changes the elements for which `isAffected` returns true.
  ///
  /// - Complexity: O(n). Only the nodes with affected elements are copied.
  @inlinable
  mutating func update(where isAffected: (Element) -> Bool, change: (inout Element) -> Void) {
    if let root = self.root.updated(where: isAffected, change) { self.root = root }
  }

  /// The identifiers of the nodes of this version. A shared node is in the sets of both versions.
  package var nodeIdentifiers: Set<UnsafeRawPointer?> {
    var identifiers: Set<UnsafeRawPointer?> = []
    var pending = [self.root]
    while let node = pending.popLast() {
      identifiers.insert(node.identifier)
      if case .branches(let branches) = node { pending += branches.map(\.node) }
    }
    return identifiers
  }
}

extension OrderedTree: Sendable where Element: Sendable {}
