/// A path that is looked up under a lock, where no element of a user's type may be hashed or compared.
///
/// Its elements are hashed when it is made. The look-up tells which two elements it has to compare; the caller compares them
/// outside the lock, with ``decide(_:)``, and looks again.
struct PathSearch: Sendable {
  /// Two elements of user types with the same hash.
  struct Comparison: Sendable {
    let present: any ErasedPathElement
    let sought: any ErasedPathElement
    var areEqual = false
  }

  let path: OperationPath
  /// The hash of each beginning of the path, by its last element.
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

  /// Compares two elements, which is foreign code.
  mutating func decide(_ comparison: Comparison) {
    var comparison = comparison
    comparison.areEqual = comparison.present.isEqual(to: comparison.sought)
    self.comparisons.append(comparison)
  }

  /// Whether two elements are equal; a comparison where that is not known yet.
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
  /// Whether hashing and comparing the path runs code of its elements' types.
  var hasErasedElements: Bool {
    for element in self.elements {
      if case .erased = element.payload { return true }
    }
    return false
  }

  /// The paths with equal elements replaced by the same one wherever they begin alike, so that none of them has to be
  /// compared with another's any more.
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
  /// Where a search ends.
  enum SearchResult {
    /// The node of the longest beginning of the path that is there, and the length of that.
    case reached(NodeID, length: Int)
    /// Two elements have to be compared before the search can go on.
    case undecided(PathSearch.Comparison)
  }

  /// Follows a path as far as it is there, without hashing or comparing an element of a user's type.
  ///
  /// - Parameter isFinal: Whether elements that have not been compared count as different.
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

  /// Finds the node at a path, making it and its ancestors where they are missing. Elements that have not been compared count
  /// as different.
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

  /// The path of a node.
  func path(to node: NodeID) -> OperationPath {
    var (node, elements) = (node, [OperationPath.Element]())
    while node != Self.root {
      elements.append(nodes[Int(node)].element)
      node = nodes[Int(node)].parent
    }
    return OperationPath(elements.reversed())
  }
}
