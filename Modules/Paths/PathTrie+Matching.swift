extension PathTrie {
  /// Calls a closure with each value at a path that starts with the given one.
  @inlinable
  package func forEach<Failure: Error>(
    matching path: OperationPath = OperationPath(),
    _ body: (Value) throws(Failure) -> Void
  ) throws(Failure) {
    if let start = index.node(at: path) { try forEach(within: start, body) }
  }

  /// Calls a closure with each value at a node or below it.
  @inlinable
  package func forEach<Failure: Error>(
    within start: PathIndex.NodeID,
    _ body: (Value) throws(Failure) -> Void
  ) throws(Failure) {
    var next = index.firstValue(within: start)
    while let node = next {
      if let value = values[Int(node)] { try body(value) }
      next = index.nextValue(after: node, within: start)
    }
  }

  /// Returns the values at paths that start with the given one.
  @inlinable
  package func subtrie(matching path: OperationPath) -> PathTrie {
    if path.isEmpty { return self }
    guard let start = index.node(at: path) else { return PathTrie() }
    return subtree(at: start)
  }

  /// Returns the transformed values at paths that start with the given one, without `nil` results.
  @inlinable
  package func compactMap<Transformed>(
    matching path: OperationPath = OperationPath(),
    _ transform: (Value) -> Transformed?
  ) -> PathTrie<Transformed> {
    // An empty trie has no root.
    if path.isEmpty { return compactMap(within: PathIndex.root, transform) }
    guard let start = index.node(at: path) else { return PathTrie<Transformed>() }
    return compactMap(within: start, transform)
  }

  /// Returns the transformed values at a node and below it, without `nil` results.
  @inlinable
  package func compactMap<Transformed>(
    within start: PathIndex.NodeID,
    _ transform: (Value) -> Transformed?
  ) -> PathTrie<Transformed> {
    // For all paths, the index is shared instead of copied.
    if start == PathIndex.root { return compactMap(into: index, from: nil, transform) }
    let (copy, sources) = index.subtree(at: start)
    return compactMap(into: copy, from: sources, transform)
  }

  // The sources are the nodes that the last nodes of the copy were copied from; nil if the copy is the index itself.
  @inlinable
  package func compactMap<Transformed>(
    into copy: PathIndex,
    from sources: ContiguousArray<PathIndex.NodeID>?,
    _ transform: (Value) -> Transformed?
  ) -> PathTrie<Transformed> {
    let count = sources == nil ? values.count : copy.nodes.count
    // All empty arrays share one object, to which the initializer below would write.
    if count == 0 { return PathTrie<Transformed>() }
    let offset = count - (sources?.count ?? count)
    var result = PathTrie<Transformed>()
    result.index = copy
    var dropped: [PathIndex.NodeID] = []
    // Raw memory, because code that is not specialized for the value type looks up that type at each array access.
    result.values = ContiguousArray(unsafeUninitializedCapacity: count) { places, initializedCount in
      values.withUnsafeBufferPointer { values in
        for place in 0..<count {
          places.initializeElement(at: place, to: nil)
          initializedCount += 1
          guard place >= offset, let value = values[sources.map { Int($0[place - offset]) } ?? place] else { continue }
          if let value = transform(value) {
            places[place] = value
          } else {
            dropped.append(PathIndex.NodeID(place))
          }
        }
      }
    }
    for node in dropped { result.index.unmarkValue(at: node) }
    result.shrink()
    return result
  }

  // Copies a node with its descendants and ancestors.
  @inlinable
  package func subtree(at start: PathIndex.NodeID) -> PathTrie {
    let (copy, sources) = index.subtree(at: start)
    return compactMap(into: copy, from: sources) { $0 }
  }
}
