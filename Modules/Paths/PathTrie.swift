/// Values by path, found by their path or by a prefix of it.
///
/// The cost of each operation depends only on the elements of the path and on the values that match it. A leaf takes
/// one position in each of three flat arrays and no allocation of its own; the storage of a removed value is freed or
/// reused. Copies share their storage until one of them changes, which then copies it. Iteration visits parents first,
/// and siblings in the order in which they or their first descendant were inserted.
@usableFromInline
package struct PathTrie<Value> {
  @usableFromInline package var index = PathIndex()
  // The value of each node, at the position of the node.
  @usableFromInline var values: ContiguousArray<Value?> = []

  @inlinable
  package init() {}

  /// The number of values.
  @inlinable
  package var count: Int { index.valueCount }

  /// Whether the trie has no values.
  @inlinable
  package var isEmpty: Bool { index.valueCount == 0 }

  /// The number of nodes in use, including the root.
  @inlinable
  package var nodeCount: Int { index.nodes.count - index.freeCount }

  /// The number of nodes that fit into the storage without growing it.
  package var placeCount: Int { Swift.max(index.nodes.capacity, values.capacity) }
}

extension PathTrie: Sendable where Value: Sendable {}

extension PathTrie {
  /// The value at a path. Assigning `nil` removes it.
  @inlinable
  package subscript(path: OperationPath) -> Value? {
    @usableFromInline
    get {
      guard let node = index.node(at: path) else { return nil }
      return values[Int(node)]
    }
    set {
      if let newValue {
        updateValue(newValue, at: path)
      } else {
        removeValue(at: path)
      }
    }
  }

  @inlinable
  package subscript(node node: PathIndex.NodeID) -> Value? { values[Int(node)] }

  /// Inserts a value, or replaces the value at its path and returns the replaced one.
  @discardableResult
  @inlinable
  package mutating func updateValue(_ value: Value, at path: OperationPath) -> Value? {
    let node = insert(path)
    let replaced = values[Int(node)]
    values[Int(node)] = value
    return replaced
  }

  /// Returns the value at a path, and inserts the given one if the path has none.
  ///
  /// The value is created before the trie changes, so that an error leaves the trie unchanged.
  @inlinable
  package mutating func value<Failure: Error>(
    at path: OperationPath,
    orInsert make: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    if let value = self[path] { return value }
    let value = try make()
    updateValue(value, at: path)
    return value
  }

  @inlinable
  package mutating func insert(_ path: OperationPath) -> PathIndex.NodeID {
    let node = index.insert(path)
    if values.isEmpty { values.reserveCapacity(index.nodes.count) }
    while values.count < index.nodes.count { values.append(nil) }
    index.markValue(at: node)
    return node
  }

  /// Removes the value at a path and returns it.
  @discardableResult
  @inlinable
  package mutating func removeValue(at path: OperationPath) -> Value? {
    guard let node = index.node(at: path), let value = values[Int(node)] else { return nil }
    values[Int(node)] = nil
    index.unmarkValue(at: node)
    shrink()
    return value
  }

  /// Removes all values, and returns them as a trie, so that the caller can release them after unlocking.
  @discardableResult
  @inlinable
  package mutating func removeAll() -> PathTrie {
    let removed = self
    self = PathTrie()
    return removed
  }

  /// Removes the values at paths that start with the given one, and returns them.
  @discardableResult
  @inlinable
  package mutating func removeAll(matching path: OperationPath) -> PathTrie {
    if path.isEmpty { return removeAll() }
    guard let start = index.node(at: path) else { return PathTrie() }
    let removed = subtree(at: start)
    var next = index.firstValue(within: start)
    while let node = next {
      values[Int(node)] = nil
      next = index.nextValue(after: node, within: start)
    }
    index.removeSubtree(at: start)
    shrink()
    return removed
  }

  @inlinable
  package mutating func shrink() {
    if index.nodes.isEmpty {
      values = []
    } else if index.isSparse {
      self = subtree(at: PathIndex.root)
    }
  }
}
