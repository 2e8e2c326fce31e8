extension OperationPathableCollection {
  /// Iterates over the values that a collection had when the iterator was created.
  public struct Iterator: IteratorProtocol {
    @usableFromInline let trie: PathTrie<Value>
    @usableFromInline var node: PathIndex.NodeID?

    @inlinable
    init(_ trie: PathTrie<Value>) {
      self.trie = trie
      self.node = trie.isEmpty ? nil : trie.index.firstValue(within: PathIndex.root)
    }

    /// Returns the next value, or `nil` after the last one.
    ///
    /// - Complexity: Amortized O(1) over a whole iteration.
    @inlinable
    public mutating func next() -> Value? {
      guard let node else { return nil }
      self.node = trie.index.nextValue(after: node, within: PathIndex.root)
      return trie[node: node]
    }
  }

  /// Returns an iterator over the values.
  @inlinable
  public func makeIterator() -> Iterator { Iterator(trie) }
}

extension OperationPathableCollection.Iterator: Sendable where Value: Sendable {}
