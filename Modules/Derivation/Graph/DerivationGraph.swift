internal import OperationCore

/// Searches in the graph of derived queries. None of them recurses, so that a chain may be of any length.
enum DerivationGraph {
  /// Whether the query has to run before its value can be used: a source has changed, directly or through others.
  ///
  /// - Complexity: O(1) if nothing has changed since the query was found consistent, and otherwise O(*n*) in the derived
  ///   queries below the node of which that cannot be said, and their sources.
  static func isOutdated(_ node: DerivationNode, at revision: UInt64) -> Bool {
    if node.isVerified(at: revision) { return false }
    guard let commit = node.commit else { return true }
    if commit.isRejected { return false }
    if case .outdated = ConsistencySearch(of: node, commit, at: revision).result() { return true }
    return false
  }

  /// Whether the value of the query is stale: it is outdated, the last run of a query has failed, or a source is stale.
  ///
  /// - Complexity: O(*n*) in the derived queries below the node and their sources.
  /// - Parameters:
  ///   - node: The node of the query.
  ///   - isVerified: Whether it was just found consistent, so that only the ages of its sources are looked at.
  ///   - mark: Receives the sources that were found fresh; nil if no mark can be made of them.
  /// - Returns: Whether it is stale.
  static func isStale(_ node: DerivationNode, isVerified: Bool, marking mark: inout FreshMark?) -> Bool {
    var search = Search()
    search.add(node)
    while let next = search.next() {
      guard let commit = next.commit, !commit.hasFailed else { return true }
      guard search.addSources(of: commit.readings, areConsistent: isVerified) else { return true }
      for reading in commit.readings.values where !reading.isOfState {
        guard let source = reading.source else { return true }
        // A mutation is read as it is.
        if !source.allowsAutomaticRuns { continue }
        if source.isInvalidated { return true }
        // The rules of a derived query include this search.
        guard source.derivationNode == nil else { continue }
        let end = source.freshEnd  // It has one only if it is fresh.
        if end == nil, source.isStale { return true }
        if mark?.add(source, freshUntil: end) == false { mark = nil }
      }
    }
    return false
  }

  /// Whether a source was invalidated after the value was made of it, directly or through others, or cannot be known to be as it
  /// was: it is gone or was removed from the client, or the client has removed the store of the query itself.
  ///
  /// - Complexity: O(*n*) in the derived queries below the node and their sources.
  static func wasInvalidated(_ node: DerivationNode) -> Bool {
    var search = Search()
    search.add(node)
    while let next = search.next() {
      if next.hasForgottenSources { return true }
      for reading in next.commit?.readings.values ?? [:].values where !reading.isOfState {
        // An invalidation of its path no longer reaches a store that was removed.
        guard let source = reading.source, source.isInClient, reading.answersInvalidations() else { return true }
        search.add(source.derivationNode)
      }
    }
    return false
  }

  /// A derived query below the node that runs; nil if there is none.
  ///
  /// - Complexity: O(*n*) in the derived queries below the node and their sources.
  static func runningNode(below node: DerivationNode) -> DerivationNode? {
    var search = Search()
    search.add(node)
    while let next = search.next() {
      if next !== node, next.isLoading { return next }
      for reading in next.commit?.readings.values ?? [:].values where !reading.isOfState {
        search.add(reading.source?.derivationNode)
      }
    }
    return nil
  }

  /// The derived queries on a shortest way from one of several to another one, along what the last runs have read; nil if
  /// there is none.
  ///
  /// - Complexity: O(*n*) in the derived queries below the nodes and their sources.
  static func path(from starts: some Sequence<DerivationNode>, to goal: DerivationNode) -> [DerivationNode]? {
    var search = GraphSearch<DerivationNode, ObjectIdentifier>()
    for node in starts { search.add(node, ObjectIdentifier(node)) }
    while let (step, node) = search.next() {
      if node === goal { return search.path(to: step) }
      for reading in node.commit?.readings.values ?? [:].values {
        guard let next = reading.source?.derivationNode else { continue }
        search.add(next, ObjectIdentifier(next), after: step)
      }
    }
    return nil
  }

  /// The nodes that remain to be visited.
  private struct Search {
    private var nodes: [DerivationNode] = []
    private var known: Set<ObjectIdentifier> = []

    mutating func add(_ node: DerivationNode?) {
      guard let node, self.known.insert(ObjectIdentifier(node)).inserted else { return }
      self.nodes.append(node)
    }

    /// Adds the derived queries among the sources whose values were read. False if a reading is not consistent.
    mutating func addSources(of readings: [ObjectIdentifier: any Reading], areConsistent: Bool) -> Bool {
      for reading in readings.values {
        guard let source = reading.source, areConsistent || reading.isConsistent() else { return false }
        if !reading.isOfState { self.add(source.derivationNode) }
      }
      return true
    }

    mutating func next() -> DerivationNode? { self.nodes.popLast() }
  }
}
