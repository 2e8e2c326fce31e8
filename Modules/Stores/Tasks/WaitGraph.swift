internal import Synchronization

/// The graph of runs that wait for each other. A caller that would join a run which waits for it is refused.
package enum WaitGraph {
  /// Whether a caller can join a run.
  package enum Finding {
    /// The run can be joined.
    case open
    /// The run waits in a queue until the caller ends, so the caller starts a run of its own.
    case queuedBehindCaller
    /// The work of the run waits for the caller through these operations. The first name is repeated at the end.
    case recursion([String])

    fileprivate var isOpen: Bool {
      if case .open = self { true } else { false }
    }
  }

  /// Whether a wait was ever noted. Callers search the graph only then.
  private static let hasEdges = Atomic(false)

  /// Notes that a run waits for another.
  package static func noteEdge() {
    if !self.hasEdges.load(ordering: .relaxed) { self.hasEdges.store(true, ordering: .sequentiallyConsistent) }
  }

  /// Whether a caller has to call ``noteAndFind(joining:)`` before it joins a run.
  package static var isNeeded: Bool {
    self.hasEdges.load(ordering: .sequentiallyConsistent) || EnclosingRun.exists
  }

  /// Returns whether the current task can wait for `node`, or whether `node` waits for it, directly or through others.
  ///
  /// The wait of the current task is noted before the search. If two tasks close a cycle at the same time, at least
  /// one of them thus sees the wait of the other. Unless the finding is that the run can be joined, the note is taken back.
  ///
  /// - Complexity: O(1) before the first wait of the process, then O(*n*) in the waits that `node` leads to.
  package static func noteAndFind(joining node: any WaitNode) -> Finding {
    let isNoted = EnclosingRun.notesWaits
    if isNoted { EnclosingRun.note(awaited: node) }
    let finding = self.find(joining: node)
    if isNoted, !finding.isOpen { EnclosingRun.noteWaitEnded() }
    return finding
  }

  private static func find(joining node: any WaitNode) -> Finding {
    guard self.hasEdges.load(ordering: .sequentiallyConsistent) else { return .open }
    if let path = self.path(from: node, onlyCalls: true) { return .recursion(self.names(of: path)) }
    if UnstructuredWait.exist, UnstructuredWait.findOut(joining: node),
      let path = self.path(from: node, onlyCalls: true)
    {
      return .recursion(self.names(of: path))
    }
    return self.path(from: node, onlyCalls: false) == nil ? .open : .queuedBehindCaller
  }

  /// Returns the names of the operations of the cycle that the current task closes if it waits for `node`; nil if it
  /// closes none.
  ///
  /// The waits are calls, or waits in queues. A caller uses it if it cannot do the work itself; otherwise see
  /// ``noteAndFind(joining:)``.
  package static func noteAndFindCycle(awaiting node: any WaitNode) -> [String]? {
    EnclosingRun.note(awaited: node)
    return self.findCycle(awaiting: node)
  }

  /// The same for a wait that was noted.
  package static func findCycle(awaiting node: any WaitNode) -> [String]? {
    guard self.hasEdges.load(ordering: .sequentiallyConsistent) else { return nil }
    return self.path(from: node, onlyCalls: false).map { self.names(of: $0) }
  }

  /// The names of a cycle. The first is repeated at the end.
  static func names(of path: [any WaitNode]) -> [String] {
    // A store's run and the deduplicated run inside it have the same name, which is listed once.
    var names: [String] = []
    for case let name? in path.map(\.waitName) where names.last != name { names.append(name) }
    return names + names.prefix(1)
  }

  /// The shortest path from a node to one that can end only after the current task has continued; nil if none exists, or
  /// if the node can end all the same.
  private static func path(from start: any WaitNode, onlyCalls: Bool) -> [any WaitNode]? {
    var search = GraphSearch<any WaitNode, ObjectIdentifier>()
    search.add(start, ObjectIdentifier(start))
    while let (step, node) = search.next() {
      if node.isEndedHere {
        let path = search.path(to: step)
        // Where a node needs only one of its waits to end, the path proves nothing.
        let isCertain = onlyCalls || !path.contains { $0.continuesAfterAnyWait && $0.allWaits.count > 1 }
        return isCertain || !WaitClosure(of: start).canEnd ? path : nil
      }
      for edge in node.allWaits where edge.isCall || !onlyCalls {
        search.add(edge.node, ObjectIdentifier(edge.node), after: step)
      }
    }
    return nil
  }
}
