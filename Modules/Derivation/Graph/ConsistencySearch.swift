internal import OperationCore

/// What a search has found about what a derived query has read.
enum Consistency: Sendable {
  /// A source shows something else than was read, or has to run before its value can be used.
  case outdated
  /// Everything is as it was read.
  case consistent
  /// Everything is as it was read, at this revision, and stays so until the next.
  case verified(UInt64)
}

/// Looks whether derived queries are consistent with their sources, from the bottom up.
///
/// A query is marked as verified before its value is compared with what was read of it: if it gets another value
/// after that, the revision advances. So a mark that has the current revision is right.
struct ConsistencySearch {
  /// A query whose readings are looked at.
  private struct Visit {
    /// Nil for a run that has not ended.
    let node: DerivationNode?
    let commit: DerivationCommit?
    var remaining: [ObjectIdentifier: any Reading].Values.Iterator
    /// The reading to compare when its source has been visited.
    var reading: (any Reading)?
    var isVerifiable = true
  }

  private let revision: UInt64
  private var visits: [Visit]
  private var known: Set<ObjectIdentifier> = []

  /// Begins with the sources of a run that has not ended.
  init(of readings: [ObjectIdentifier: any Reading], at revision: UInt64) {
    self.revision = revision
    self.visits = [Visit(node: nil, commit: nil, remaining: readings.values.makeIterator())]
  }

  /// Begins with the sources of a query.
  init(of node: DerivationNode, _ commit: DerivationCommit, at revision: UInt64) {
    self.revision = revision
    self.visits = [Visit(node: node, commit: commit, remaining: commit.readings.values.makeIterator())]
    self.known = [ObjectIdentifier(node)]
  }

  /// Searches to the end.
  ///
  /// - Complexity: O(*n*) in the sources and the derived queries below them that are not verified.
  consuming func result() -> Consistency {
    while let last = self.visits.indices.last {
      if let reading = self.visits[last].reading.take(), !reading.isConsistent() { return .outdated }
      guard let reading = self.visits[last].remaining.next() else {
        let isVerified = self.endVisit()
        if self.visits.isEmpty { return isVerified ? .verified(self.revision) : .consistent }
        continue
      }
      guard let source = reading.source else { return .outdated }
      guard !reading.isOfState, let node = source.derivationNode else {
        // The revision does not count the beginnings of runs.
        if reading.isOfState { self.visits[last].isVerifiable = false }
        guard reading.isConsistent() else { return .outdated }
        continue
      }
      self.visits[last].reading = reading
      if node.isVerified(at: self.revision) { continue }
      guard self.known.insert(ObjectIdentifier(node)).inserted else {
        self.visits[last].isVerifiable = false
        continue
      }
      guard let commit = node.commit else { return .outdated }
      // The error is what the store shows, whatever its sources show.
      if commit.isRejected {
        self.visits[last].isVerifiable = false
        continue
      }
      self.visits.append(Visit(node: node, commit: commit, remaining: commit.readings.values.makeIterator()))
    }
    return .consistent
  }

  /// Ends the last visit, which has found nothing. Returns whether its query is verified.
  private mutating func endVisit() -> Bool {
    let visit = self.visits.removeLast()
    var isVerified = visit.isVerifiable
    if let node = visit.node, let commit = visit.commit {
      isVerified = isVerified && node.verify(commit, at: self.revision)
    }
    if !isVerified, let last = self.visits.indices.last { self.visits[last].isVerifiable = false }
    return isVerified
  }
}
