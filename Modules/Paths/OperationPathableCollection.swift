/// Values by their paths. They can be selected and removed by a prefix of their paths.
///
/// A collection holds at most one value for a path. It has value semantics: copying takes O(1), and copies share their
/// storage until one of them is changed, which copies the storage once.
///
/// Iteration visits parents first (`["a"]` before `["a", 1]`), and the children of a parent in the order in which the
/// first value at or below each of them was inserted.
public struct OperationPathableCollection<Value: OperationPathable> {
  @usableFromInline var trie: PathTrie<Value>

  /// Creates an empty collection.
  @inlinable
  public init() {
    self.trie = PathTrie()
  }

  /// Creates a collection from the values of a sequence. Of several values with the same path, the last one is used.
  ///
  /// - Parameter values: The values.
  /// - Complexity: O(*n*) in the elements of all paths.
  @inlinable
  public init(_ values: some Sequence<Value>) {
    self.init()
    for value in values { update(value) }
  }

  /// Creates a collection from a trie whose values are at their own paths.
  @inlinable
  package init(trie: PathTrie<Value>) {
    self.trie = trie
  }
}

extension OperationPathableCollection: Sendable where Value: Sendable {}

extension OperationPathableCollection {
  /// The value at a path; nil if the path has none.
  ///
  /// - Parameter path: The whole path of the value.
  /// - Complexity: O(*d*) in the elements of the path.
  @inlinable
  public subscript(path: OperationPath) -> Value? { trie[path] }

  /// Inserts a value, or replaces the value at its path.
  ///
  /// - Parameter value: The value.
  /// - Returns: The value that was replaced.
  /// - Complexity: Amortized O(*d*) in the elements of the value's path.
  @discardableResult
  @inlinable
  public mutating func update(_ value: Value) -> Value? {
    trie.updateValue(value, at: value.path)
  }

  /// Removes the value at a path.
  ///
  /// - Parameter path: The whole path of the value.
  /// - Returns: The value that was removed.
  /// - Complexity: Amortized O(*d*) in the elements of the path.
  @discardableResult
  @inlinable
  public mutating func removeValue(forPath path: OperationPath) -> Value? {
    trie.removeValue(at: path)
  }

  /// Removes every value.
  ///
  /// - Complexity: O(*n*) in the number of values.
  @inlinable
  public mutating func removeAll() {
    trie.removeAll()
  }

  /// Removes the values whose paths start with the given one.
  ///
  /// - Parameter path: The prefix; the empty path matches every value.
  /// - Returns: The values that were removed.
  /// - Complexity: Amortized O(*d* + *m*) in the elements of the path and the values that match it.
  @discardableResult
  @inlinable
  public mutating func removeAll(matching path: OperationPath) -> OperationPathableCollection {
    OperationPathableCollection(trie: trie.removeAll(matching: path))
  }

  /// Returns the values whose paths start with the given one.
  ///
  /// - Parameter path: The prefix; the empty path matches every value.
  /// - Returns: A collection of these values, independent of this one.
  /// - Complexity: O(*d* + *m*) in the elements of the path and the values that match it; O(1) for the empty path.
  @inlinable
  public func collection(matching path: OperationPath) -> OperationPathableCollection {
    OperationPathableCollection(trie: trie.subtrie(matching: path))
  }
}
