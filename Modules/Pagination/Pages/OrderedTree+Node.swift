extension OrderedTree {
  /// A node: either one of leaves or one of branches.
  @usableFromInline
  final class Node {
    /// How much a node has room for.
    @inlinable
    static var width: Int { 32 }

    @usableFromInline
    struct Leaf {
      @usableFromInline let key: Int
      @usableFromInline var element: Element

      @inlinable
      init(key: Int, element: Element) {
        self.key = key
        self.element = element
      }
    }

    @usableFromInline
    struct Branch {
      @usableFromInline var node: Node
      @usableFromInline var firstKey: Int
      @usableFromInline var count: Int

      @inlinable
      init(_ node: Node) {
        self.node = node
        self.firstKey = node.firstKey
        self.count = node.count
      }
    }

    @exclusivity(unchecked) @usableFromInline var leaves: ContiguousArray<Leaf>
    @exclusivity(unchecked) @usableFromInline var branches: ContiguousArray<Branch>
    @exclusivity(unchecked) @usableFromInline var count: Int

    @inlinable
    init(leaves: ContiguousArray<Leaf>) {
      self.leaves = leaves
      self.branches = []
      self.count = leaves.count
    }

    @inlinable
    init(branches: ContiguousArray<Branch>) {
      self.leaves = []
      self.branches = branches
      self.count = branches.reduce(0) { $0 + $1.count }
    }

    @inlinable
    init(copying node: Node) {
      self.leaves = node.leaves
      self.branches = node.branches
      self.count = node.count
    }

    @inlinable
    func copy() -> Node { Node(copying: self) }
  }
}

// Unchecked because its content changes: it does so only while a single tree refers to the node, as the content of an
// array's buffer does.
extension OrderedTree.Node: @unchecked Sendable where Element: Sendable {}

// MARK: - Reading

extension OrderedTree.Node {
  /// The smallest key beneath. The node is not empty.
  @inlinable
  var firstKey: Int { self.branches.first?.firstKey ?? self.leaves[0].key }

  /// The greatest key beneath. The node is not empty.
  @inlinable
  var lastKey: Int { self.branches.last?.node.lastKey ?? self.leaves[self.leaves.count - 1].key }

  /// The child of a node that has no other.
  @inlinable
  var onlyChild: OrderedTree.Node? { self.branches.count == 1 ? self.branches[0].node : nil }

  /// The first leaf whose key is not less than `key`.
  @inlinable
  func leafIndex(for key: Int) -> Int {
    var (low, high) = (0, self.leaves.count)
    while low < high {
      let middle = (low + high) / 2
      if self.leaves[middle].key < key { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The branch beneath which `key` is or would be.
  @inlinable
  func branchIndex(for key: Int) -> Int {
    var (low, high) = (1, self.branches.count)
    while low < high {
      let middle = (low + high) / 2
      if self.branches[middle].firstKey <= key { low = middle + 1 } else { high = middle }
    }
    return low - 1
  }

  @inlinable
  func element(of key: Int) -> Element? {
    if !self.branches.isEmpty { return self.branches[self.branchIndex(for: key)].node.element(of: key) }
    let index = self.leafIndex(for: key)
    return index < self.leaves.count && self.leaves[index].key == key ? self.leaves[index].element : nil
  }

  @inlinable
  func element(at offset: Int) -> Element {
    if self.branches.isEmpty { return self.leaves[offset].element }
    var offset = offset
    var index = 0
    while offset >= self.branches[index].count {
      offset -= self.branches[index].count
      index += 1
    }
    return self.branches[index].node.element(at: offset)
  }

  @inlinable
  func offset(of key: Int) -> Int? {
    if self.branches.isEmpty {
      let index = self.leafIndex(for: key)
      return index < self.leaves.count && self.leaves[index].key == key ? index : nil
    }
    let index = self.branchIndex(for: key)
    guard let offset = self.branches[index].node.offset(of: key) else { return nil }
    return self.branches[..<index].reduce(offset) { $0 + $1.count }
  }

  @inlinable
  func visit<E: Error>(_ body: (Element) throws(E) -> Void) throws(E) {
    for leaf in self.leaves { try body(leaf.element) }
    for branch in self.branches { try branch.node.visit(body) }
  }
}

// MARK: - Changing

// A node that is changed belongs to one tree alone, and so do those above it.
extension OrderedTree.Node {
  /// Inserts or replaces an element, and returns what had to be split off behind this node.
  @inlinable
  func insert(_ element: Element, for key: Int) -> OrderedTree.Node? {
    if self.branches.isEmpty {
      let index = self.leafIndex(for: key)
      if index < self.leaves.count, self.leaves[index].key == key {
        self.leaves[index].element = element
        return nil
      }
      self.leaves.insert(Leaf(key: key, element: element), at: index)
      self.count += 1
      return self.split(changed: index)
    }
    let index = self.branchIndex(for: key)
    let sibling = self.uniqueChild(at: index).insert(element, for: key)
    self.refreshBranch(at: index)
    guard let sibling else { return nil }
    self.branches.insert(Branch(sibling), at: index + 1)
    self.count += sibling.count
    return self.split(changed: index + 1)
  }

  /// Removes the element of `key`, which is there. The node may be empty then.
  @inlinable
  func remove(_ key: Int) {
    if self.branches.isEmpty {
      self.leaves.remove(at: self.leafIndex(for: key))
      self.count -= 1
      return
    }
    let index = self.branchIndex(for: key)
    let child = self.uniqueChild(at: index)
    child.remove(key)
    if child.count > 0 {
      self.refreshBranch(at: index)
    } else {
      self.branches.remove(at: index)
      self.count -= 1
    }
  }

  @inlinable
  func uniqueChild(at index: Int) -> OrderedTree.Node {
    if !isKnownUniquelyReferenced(&self.branches[index].node) {
      self.branches[index].node = self.branches[index].node.copy()
    }
    return self.branches[index].node
  }

  @inlinable
  func refreshBranch(at index: Int) {
    self.count -= self.branches[index].count
    self.branches[index] = Branch(self.branches[index].node)
    self.count += self.branches[index].count
  }

  /// Splits a node that has become too wide: at the end where it grows, so that a sequence fills its nodes.
  @inlinable
  func split(changed index: Int) -> OrderedTree.Node? {
    let width = max(self.leaves.count, self.branches.count)
    guard width > Self.width else { return nil }
    let cut =
      switch index {
      case width - 1: width - 1
      case 0, 1: 1
      default: width / 2
      }
    let sibling: OrderedTree.Node
    if self.branches.isEmpty {
      sibling = OrderedTree.Node(leaves: ContiguousArray(self.leaves[cut...]))
      self.leaves.removeSubrange(cut...)
    } else {
      sibling = OrderedTree.Node(branches: ContiguousArray(self.branches[cut...]))
      self.branches.removeSubrange(cut...)
    }
    self.count -= sibling.count
    return sibling
  }
}
