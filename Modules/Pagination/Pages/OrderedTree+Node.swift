extension OrderedTree {
  /// A node of leaves or of branches.
  ///
  /// Versions of the tree share its array, which is copied when one of several versions changes.
  @usableFromInline
  enum Node {
    case leaves(ContiguousArray<Leaf>)
    case branches(ContiguousArray<Branch>)

    /// The maximum number of leaves: half a kilobyte. More take longer to copy, fewer need more nodes.
    @inlinable
    static var leafWidth: Int { max(8, 512 / MemoryLayout<Leaf>.stride) }

    /// The maximum number of branches. It is small, as copying a node retains each of its branches.
    @inlinable
    static var branchWidth: Int { 16 }
  }

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
}

extension OrderedTree.Node: Sendable where Element: Sendable {}
extension OrderedTree.Leaf: Sendable where Element: Sendable {}
extension OrderedTree.Branch: Sendable where Element: Sendable {}

// MARK: - Reading

extension OrderedTree.Node {
  @inlinable
  var count: Int {
    switch self {
    case .leaves(let leaves): leaves.count
    case .branches(let branches): branches.reduce(0) { $0 + $1.count }
    }
  }

  /// The leaf with the smallest key. The node must not be empty.
  @inlinable
  var first: OrderedTree.Leaf {
    switch self {
    case .leaves(let leaves): leaves[0]
    case .branches(let branches): branches[0].node.first
    }
  }

  /// The leaf with the greatest key. The node must not be empty.
  @inlinable
  var last: OrderedTree.Leaf {
    switch self {
    case .leaves(let leaves): leaves[leaves.count - 1]
    case .branches(let branches): branches[branches.count - 1].node.last
    }
  }

  /// The smallest key in the subtree. The node must not be empty.
  @inlinable
  var firstKey: Int {
    switch self {
    case .leaves(let leaves): leaves[0].key
    case .branches(let branches): branches[0].firstKey
    }
  }

  /// The index of the first leaf whose key is not less than `key`.
  @inlinable
  static func index(of key: Int, in leaves: ContiguousArray<OrderedTree.Leaf>) -> Int {
    var (low, high) = (0, leaves.count)
    while low < high {
      let middle = (low + high) / 2
      if leaves[middle].key < key { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The index of the branch that contains `key`, or would contain it.
  @inlinable
  static func index(of key: Int, in branches: ContiguousArray<OrderedTree.Branch>) -> Int {
    var (low, high) = (1, branches.count)
    while low < high {
      let middle = (low + high) / 2
      if branches[middle].firstKey <= key { low = middle + 1 } else { high = middle }
    }
    return low - 1
  }

  @inlinable
  func element(of key: Int) -> Element? {
    switch self {
    case .leaves(let leaves):
      let index = Self.index(of: key, in: leaves)
      return index < leaves.count && leaves[index].key == key ? leaves[index].element : nil
    case .branches(let branches):
      return branches[Self.index(of: key, in: branches)].node.element(of: key)
    }
  }

  @inlinable
  func leaf(at offset: Int) -> OrderedTree.Leaf {
    switch self {
    case .leaves(let leaves): return leaves[offset]
    case .branches(let branches):
      var offset = offset
      var index = 0
      while offset >= branches[index].count {
        offset -= branches[index].count
        index += 1
      }
      return branches[index].node.leaf(at: offset)
    }
  }

  @inlinable
  func offset(of key: Int) -> Int? {
    switch self {
    case .leaves(let leaves):
      let index = Self.index(of: key, in: leaves)
      return index < leaves.count && leaves[index].key == key ? index : nil
    case .branches(let branches):
      let index = Self.index(of: key, in: branches)
      guard let offset = branches[index].node.offset(of: key) else { return nil }
      return branches[..<index].reduce(offset) { $0 + $1.count }
    }
  }

  @inlinable
  func visit<E: Error>(_ body: (OrderedTree.Leaf) throws(E) -> Void) throws(E) {
    switch self {
    case .leaves(let leaves): for leaf in leaves { try body(leaf) }
    case .branches(let branches): for branch in branches { try branch.node.visit(body) }
    }
  }

  /// Returns the node after changing the elements for which `isAffected` returns true. Nil if it does for none.
  @inlinable
  func updated(where isAffected: (Element) -> Bool, _ change: (inout Element) -> Void) -> OrderedTree.Node? {
    switch self {
    case .leaves(var leaves):
      guard let first = leaves.firstIndex(where: { isAffected($0.element) }) else { return nil }
      for index in first..<leaves.count where isAffected(leaves[index].element) { change(&leaves[index].element) }
      return .leaves(leaves)
    case .branches(var branches):
      var isChanged = false
      for index in branches.indices {
        guard let node = branches[index].node.updated(where: isAffected, change) else { continue }
        branches[index].node = node
        isChanged = true
      }
      return isChanged ? .branches(branches) : nil
    }
  }

  /// The address of the node's array.
  var identifier: UnsafeRawPointer? {
    switch self {
    case .leaves(let leaves): leaves.withUnsafeBytes { $0.baseAddress }
    case .branches(let branches): branches.withUnsafeBytes { $0.baseAddress }
    }
  }
}

// MARK: - Changing

// A mutating method takes the array out of the node while it changes it. Otherwise the node would retain the array, and
// each change would copy it.
extension OrderedTree.Node {
  /// Inserts or replaces an element. Returns the node to insert after this one if this one was split.
  @inlinable
  mutating func insert(_ element: Element, for key: Int) -> OrderedTree.Node? {
    switch self {
    case .leaves(var leaves):
      self = .leaves([])
      defer { self = .leaves(leaves) }
      let index = Self.index(of: key, in: leaves)
      if index < leaves.count, leaves[index].key == key {
        leaves[index].element = element
        return nil
      }
      return leaves.insert(.init(key: key, element: element), at: index, width: Self.leafWidth).map { .leaves($0) }
    case .branches(var branches):
      self = .branches([])
      defer { self = .branches(branches) }
      let index = Self.index(of: key, in: branches)
      guard let sibling = branches[index].insert(element, for: key) else { return nil }
      return branches.insert(.init(sibling), at: index + 1, width: Self.branchWidth).map { .branches($0) }
    }
  }

  /// Whether an element can be appended without splitting the last node.
  @inlinable
  var hasRoomAtEnd: Bool {
    switch self {
    case .leaves(let leaves): leaves.count < Self.leafWidth
    case .branches(let branches): branches[branches.count - 1].node.hasRoomAtEnd
    }
  }

  /// Moves the node of leaves directly below this root to its place at the end of the rest of the tree.
  @inlinable
  mutating func foldTail() {
    guard case .branches(var branches) = self, case .leaves(let tail) = branches[branches.count - 1].node else {
      return
    }
    branches.removeLast()
    self = branches.count == 1 ? branches[0].node : .branches(branches)
    branches = []
    if let sibling = self.append(tail) { self = .branches([.init(self), .init(sibling)]) }
  }

  /// Appends a node of leaves to the subtree. Returns the node to insert after this one if the subtree has no room.
  @inlinable
  mutating func append(_ tail: ContiguousArray<OrderedTree.Leaf>) -> OrderedTree.Node? {
    guard case .branches(var branches) = self else { return .leaves(tail) }
    self = .branches([])
    defer { self = .branches(branches) }
    let last = branches.count - 1
    guard let sibling = branches[last].append(tail) else { return nil }
    return branches.insert(.init(sibling), at: last + 1, width: Self.branchWidth).map { .branches($0) }
  }

  /// Removes the element of `key`, which must exist. The node may be empty afterwards.
  @inlinable
  mutating func remove(_ key: Int) {
    switch self {
    case .leaves(var leaves):
      self = .leaves([])
      leaves.remove(at: Self.index(of: key, in: leaves))
      self = .leaves(leaves)
    case .branches(var branches):
      self = .branches([])
      let index = Self.index(of: key, in: branches)
      if branches[index].count > 1 { branches[index].remove(key) } else { branches.remove(at: index) }
      self = .branches(branches)
    }
  }
}

extension OrderedTree.Branch {
  @inlinable
  mutating func insert(_ element: Element, for key: Int) -> OrderedTree.Node? {
    defer { self.refresh() }
    return self.node.insert(element, for: key)
  }

  @inlinable
  mutating func append(_ tail: ContiguousArray<OrderedTree.Leaf>) -> OrderedTree.Node? {
    defer { self.refresh() }
    return self.node.append(tail)
  }

  @inlinable
  mutating func refresh() {
    self.firstKey = self.node.firstKey
    self.count = self.node.count
  }

  /// Removes the element of `key`, which must exist and not be the only one.
  @inlinable
  mutating func remove(_ key: Int) {
    self.node.remove(key)
    self.firstKey = self.node.firstKey
    self.count -= 1
  }
}

extension ContiguousArray {
  /// Inserts an element. Splits a full array first, and returns its second part.
  ///
  /// At the end only the new element is split off, and at the beginning at most one element, so that elements added at
  /// either end fill their arrays.
  @inlinable
  mutating func insert(_ element: Element, at index: Int, width: Int) -> ContiguousArray? {
    guard self.count == width else {
      self.insert(element, at: index)
      return nil
    }
    if index == width { return [element] }
    let cut = index < 2 ? index : width / 2
    var (front, rest) = (ContiguousArray(), ContiguousArray())
    front.reserveCapacity(cut + 1)
    front += self[..<cut]
    rest.reserveCapacity(width - cut + 1)
    rest += self[cut...]
    if index <= cut { front.insert(element, at: index) } else { rest.insert(element, at: index - cut) }
    self = front
    return rest
  }
}
