/// A path that is looked up under a lock, where elements of user types must not be hashed or compared.
///
/// Its elements are hashed when it is created. A look-up that needs a comparison returns the two elements; the caller
/// compares them after unlocking with ``decide(_:)``, and repeats the look-up.
struct PathSearch: Sendable {
  /// Two elements of user types with the same hash.
  struct Comparison: Sendable {
    let present: any ErasedPathElement
    let sought: any ErasedPathElement
    var areEqual = false
  }

  let path: OperationPath
  /// The hash of each prefix of the path, at the position of its last element.
  let hashes: ContiguousArray<UInt32>
  private var comparisons: [Comparison] = []

  init(_ path: OperationPath) {
    self.path = path
    var hasher = Hasher()
    self.hashes = ContiguousArray(
      path.elements.lazy.map { element in
        element.hash(into: &hasher)
        return PathIndex.finalize(hasher)
      }
    )
  }

  /// Compares two elements, which calls user code, and stores the result.
  mutating func decide(_ comparison: Comparison) {
    var comparison = comparison
    comparison.areEqual = comparison.present.isEqual(to: comparison.sought)
    self.comparisons.append(comparison)
  }

  /// Returns whether two elements are equal, or the comparison to make if that is not known yet.
  fileprivate func compare(_ present: OperationPath.Element, _ sought: OperationPath.Element) -> Answer {
    guard case .erased(let present) = present.payload, case .erased(let sought) = sought.payload else {
      return present == sought ? .equal : .different
    }
    if present === sought { return .equal }
    for comparison in self.comparisons where comparison.present === present && comparison.sought === sought {
      return comparison.areEqual ? .equal : .different
    }
    return .unknown(Comparison(present: present, sought: sought))
  }

  fileprivate enum Answer {
    case equal
    case different
    case unknown(Comparison)
  }
}

extension OperationPath {
  /// Whether hashing and comparing the path runs code of user types.
  var hasErasedElements: Bool {
    for element in self.elements {
      if case .erased = element.payload { return true }
    }
    return false
  }

  /// Returns the paths with shared elements wherever they have equal prefixes.
  ///
  /// Elements of these prefixes then need no further comparison with each other.
  static func sharingElements(_ paths: [OperationPath]) -> [OperationPath] {
    var index = PathIndex()
    return paths.map { path in
      guard path.hasErasedElements else { return path }
      let node = index.insert(path)
      return index.path(to: node)
    }
  }
}

extension PathIndex {
  /// The result of a search.
  enum SearchResult {
    /// The node of the longest prefix of the path in the index, and the length of that prefix.
    case reached(NodeID, length: Int)
    /// Two elements have to be compared before the search can continue.
    case undecided(PathSearch.Comparison)
  }

  /// Follows a path as far as the index contains it, without hashing or comparing elements of user types.
  ///
  /// - Parameters:
  ///   - search: The path, with the comparisons that were made for it.
  ///   - isFinal: Whether elements that have not been compared count as different.
  /// - Returns: The last node that was reached, or a comparison to make first, which a final search never needs.
  func search(_ search: PathSearch, isFinal: Bool = false) -> SearchResult {
    var node = Self.root
    for (position, element) in search.path.elements.enumerated() {
      if nodes.isEmpty || nodes[Int(node)].firstChild == Self.none { return .reached(node, length: position) }
      var undecided: PathSearch.Comparison?
      let child = self.node(hash: search.hashes[position]) { candidate in
        guard nodes[Int(candidate)].parent == node else { return false }
        switch search.compare(nodes[Int(candidate)].element, element) {
        case .equal: return true
        case .different: return false
        case .unknown where isFinal: return false
        case .unknown(let comparison):
          undecided = comparison
          return true
        }
      }
      if let undecided { return .undecided(undecided) }
      guard let child else { return .reached(node, length: position) }
      node = child
    }
    return .reached(node, length: search.path.count)
  }

  /// Returns the node at a path, and creates it and its ancestors if they are missing.
  ///
  /// Elements that have not been compared count as different.
  mutating func insert(_ search: PathSearch) -> NodeID {
    insertRootIfNeeded(for: search.path)
    guard case .reached(var node, let length) = self.search(search, isFinal: true) else {
      preconditionFailure("A final search decides.")
    }
    for position in length..<search.path.count {
      node = addChild(search.path.elements[position], hash: search.hashes[position], to: node)
    }
    return node
  }

  /// Returns the path of a node.
  func path(to node: NodeID) -> OperationPath {
    var (node, elements) = (node, [OperationPath.Element]())
    while node != Self.root {
      elements.append(nodes[Int(node)].element)
      node = nodes[Int(node)].parent
    }
    return OperationPath(elements.reversed())
  }
}
