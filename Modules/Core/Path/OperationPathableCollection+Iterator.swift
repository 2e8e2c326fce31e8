extension OperationPathableCollection {
  /// Goes through the values of a collection as they were when it was made.
  public struct Iterator: IteratorProtocol {
    @usableFromInline
    let trie: PathTrie<Value>
    @usableFromInline
    var node: PathIndex.NodeID?

    @inlinable
    init(_ trie: PathTrie<Value>) {
      self.trie = trie
      self.node = trie.isEmpty ? nil : trie.index.firstValue(within: PathIndex.root)
    }

    /// The next value, or `nil` past the last one.
    ///
    /// - Complexity: Amortized O(1) over a whole iteration.
    @inlinable
    public mutating func next() -> Value? {
      guard let node else { return nil }
      self.node = trie.index.nextValue(after: node, within: PathIndex.root)
      return trie[node: node]
    }
  }

  /// An iterator over the values.
  @inlinable
  public func makeIterator() -> Iterator { Iterator(trie) }
}

extension OperationPathableCollection.Iterator: Sendable where Value: Sendable {}
