internal import OperationCore

/// Finds the runs that a run waits for, directly or through others. Called under the scheduling lock.
enum WaitPath {
  /// The runs that wait for each other if `node` waits for `other`, its new dependency; nil if there are none.
  ///
  /// - Complexity: O(*n*) in the runs that `other` waits for.
  static func cycle(of node: ScheduledNode, dependingOn other: ScheduledNode) -> WaitCycle? {
    var search = WaitSearch(goals: [ObjectIdentifier(node)])
    search.add(.end(other), .dependency, after: nil)
    return search.cycle(closedBy: .end(node))
  }

  /// The runs that wait for each other with `node`, which has not begun; nil if there are none.
  ///
  /// - Complexity: O(*n*) in the runs that `node` waits for.
  static func cycle(through node: ScheduledNode) -> WaitCycle? {
    var search = WaitSearch(goals: [ObjectIdentifier(node)])
    search.expand(.beginning(node), isAdopted: false, after: nil)
    return search.cycle(closedBy: .end(node))
  }

  /// The runs that wait for each other with those that `wait` belongs to; nil if there are none.
  ///
  /// - Complexity: O(*n*) in the runs that are waited for.
  static func cycle(through wait: ScopeWait) -> WaitCycle? {
    var goals: Set<ObjectIdentifier> = []
    for scope in wait.scopes {
      goals.insert(ObjectIdentifier(scope))
      if let node = scope.node { goals.insert(ObjectIdentifier(node)) }
    }
    var search = WaitSearch(goals: goals)
    var isValue = false
    if case .value = wait.goal { isValue = true }
    search.expand(wait, isAdopted: isValue, after: nil)
    return search.cycle(closedBy: wait.scopes)
  }

  /// `start`, and all operations whose end it waits for, which may use the categories of a run that waits for `start`.
  ///
  /// - Complexity: O(*n*) in the operations that `start` waits for.
  static func all(from start: ScheduledNode) -> [ScheduledNode] {
    var search = WaitSearch(goals: [], findsOperationsOnly: true)
    search.add(.end(start), .value, after: nil)
    return search.operations()
  }
}

extension ScheduledNode {
  /// Whether something may wait for the operation, so that a further wait of the operation may close a cycle.
  var mayBeAwaited: Bool { self.state.groupCore != nil || self.isAwaitedOutside }

  /// Whether something other than the operations of the group, if it is a group, may wait for the operation.
  var isAwaitedOutside: Bool {
    if !self.state.dependents.isEmpty || !self.state.vitalPlaces.isEmpty { return true }
    if self.state.isAwaited || self.state.unique?.isAwaited == true { return true }
    guard self.state.phase != .new else { return false }
    // Later barriers wait for an operation that is in its scheduler, and so do those that wait until that is empty.
    if self.core.machine.emptyWaitCount > 0 || self.state.segment < self.core.machine.segments.current { return true }
    if let group = self.core.machine.groupNode { return !group.hasBegun || group.isAwaitedOutside }
    return self.core.machine.groupScope?.unfinishedScopes.contains(where: \.mayBeAwaited) ?? false
  }
}

extension RunScope {
  /// Whether this scope or one around it holds categories, or a scope that may hold some awaits it.
  var mayHoldCategories: Bool {
    var scope: RunScope? = self
    while let current = scope {
      // The scope of a scheduled operation holds no categories itself, but another one that holds some may await it.
      if current.node == nil || ExclusionLock.isAwaited(current) { return true }
      scope = current.parent
    }
    return false
  }
}
