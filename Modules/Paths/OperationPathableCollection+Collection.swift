extension OperationPathableCollection: Collection {
  /// The position of a value. It is valid until the collection is changed.
  public struct Index: Comparable, Hashable, Sendable {
    let ordinal: Int
    let node: PathIndex.NodeID

    /// Whether the first position precedes the second.
    public static func < (lhs: Self, rhs: Self) -> Bool { lhs.ordinal < rhs.ordinal }
  }

  /// The position of the first value, or `endIndex` if the collection is empty.
  ///
  /// - Complexity: O(*d*) in the elements of the first value's path.
  public var startIndex: Index {
    guard !isEmpty, let first = trie.index.firstValue(within: PathIndex.root) else { return endIndex }
    return Index(ordinal: 0, node: first)
  }

  /// The position past the last value.
  public var endIndex: Index { Index(ordinal: count, node: PathIndex.none) }

  /// The number of values.
  @inlinable
  public var count: Int { trie.count }

  /// Whether the collection is empty.
  @inlinable
  public var isEmpty: Bool { trie.isEmpty }

  /// Advances a position by one.
  ///
  /// - Parameter index: A position that is not `endIndex`.
  /// - Returns: The position of the next value; `endIndex` after the last value.
  /// - Complexity: Amortized O(1) over a whole iteration; O(*d*) in the elements of a path for one step.
  public func index(after index: Index) -> Index {
    precondition(index.ordinal < count, "There is no position after the end of the collection.")
    guard let next = trie.index.nextValue(after: index.node, within: PathIndex.root) else { return endIndex }
    return Index(ordinal: index.ordinal + 1, node: next)
  }

  /// The value at a position.
  ///
  /// - Precondition: The position is valid for this collection, and not `endIndex`.
  public subscript(position: Index) -> Value {
    guard position.ordinal < count, let value = trie[node: position.node] else {
      preconditionFailure("There is no value at this position of the collection.")
    }
    return value
  }
}
