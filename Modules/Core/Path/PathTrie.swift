/// Values by path, found by their path or by a prefix of it.
///
/// Every operation costs what it touches: the elements of the path, and the values that match it. A leaf takes one
/// place in three flat arrays and no allocation of its own; what a removed value took is freed or used again.
/// Copies share their storage until one of them changes, which then copies it.
/// Values are visited parents first, and siblings in the order in which they or their first descendant arrived.
@usableFromInline
package struct PathTrie<Value> {
  @usableFromInline var index = PathIndex()
  // The value of each node, at the node's position.
  @usableFromInline var values: ContiguousArray<Value?> = []

  @inlinable
  package init() {}

  /// The number of values.
  @inlinable
  package var count: Int { index.valueCount }

  /// Whether there is no value.
  @inlinable
  package var isEmpty: Bool { index.valueCount == 0 }

  /// The number of nodes in use, the root included: what is left to be freed.
  @inlinable
  package var nodeCount: Int { index.nodes.count - index.freeCount }

  /// The number of nodes the storage has room for without growing.
  package var placeCount: Int { Swift.max(index.nodes.capacity, values.capacity) }
}

extension PathTrie: Sendable where Value: Sendable {}

extension PathTrie {
  /// The value at a path; assigning `nil` removes it.
  @inlinable
  package subscript(path: OperationPath) -> Value? {
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
  subscript(node node: PathIndex.NodeID) -> Value? { values[Int(node)] }

  /// Inserts a value or replaces the one at its path, which is returned.
  @discardableResult
  @inlinable
  package mutating func updateValue(_ value: Value, at path: OperationPath) -> Value? {
    let node = insert(path)
    let replaced = values[Int(node)]
    values[Int(node)] = value
    return replaced
  }

  /// The value at a path; where there is none, the given one is inserted and returned.
  ///
  /// The value is made before the trie changes, so an error leaves no trace.
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
  mutating func insert(_ path: OperationPath) -> PathIndex.NodeID {
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

  /// Removes all values, and returns them as a trie so that they can be let go of elsewhere, such as outside a lock.
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
  mutating func shrink() {
    if index.nodes.isEmpty {
      values = []
    } else if index.isSparse {
      self = subtree(at: PathIndex.root)
    }
  }
}
