internal import OperationCore

/// Finds the operations that an operation waits for, directly or through others. Called under the scheduling lock.
enum WaitPath {
  /// The operations on the shortest path from `start` to one of `goals`, both included; nil if there is none.
  ///
  /// - Complexity: O(*n*) in the operations that `start` waits for.
  static func nodes(from start: ScheduledNode, to goals: [ScheduledNode]) -> [ScheduledNode]? {
    var search = WaitSearch(start)
    while let (node, index) = search.next() {
      if goals.contains(where: { $0 === node }) { return search.path(to: index) }
    }
    return nil
  }

  /// `start`, and all operations whose end it waits for.
  ///
  /// - Complexity: O(*n*) in the operations that `start` waits for.
  static func all(from start: ScheduledNode) -> [ScheduledNode] {
    var search = WaitSearch(start)
    var nodes: [ScheduledNode] = []
    while let (node, _) = search.next() { nodes.append(node) }
    return nodes
  }

  /// Reports operations that wait for each other, and returns the error of the operation that would close the circle.
  ///
  /// Not called under the lock, as names may be computed by code of users.
  static func report(_ nodes: [ScheduledNode]) -> OperationCircleError {
    let names = nodes.map(\.name)
    let error = OperationCircleError(operationNames: names.count > 1 ? names : names + names)
    error.report()
    return error
  }
}

/// A breadth-first search through the operations that an operation waits for.
private struct WaitSearch {
  private struct Step {
    let node: ScheduledNode
    /// Whether the search waits for the beginning of the operation, and not for its end.
    let isBeginning: Bool
    let previous: Int?
  }

  private struct Key: Hashable {
    let node: ObjectIdentifier
    let isBeginning: Bool
  }

  private var steps: [Step] = []
  private var known: Set<Key> = []
  private var position = 0

  init(_ start: ScheduledNode) {
    self.add(start, isBeginning: false, after: nil)
  }

  mutating func next() -> (ScheduledNode, Int)? {
    guard self.position < self.steps.count else { return nil }
    let index = self.position
    let step = self.steps[index]
    self.position += 1
    if !step.node.hasBegun {
      for prerequisite in step.node.state.prerequisites {
        self.add(prerequisite.node, isBeginning: false, after: index)
      }
      if step.node.state.isHeld {
        for vital in step.node.core.machine.vitals.elements(before: step.node.state.rank) {
          self.add(vital, isBeginning: false, after: index)
        }
      }
      if let previous = step.node.state.unique?.previousNode { self.add(previous, isBeginning: false, after: index) }
      // A child begins after its group has begun.
      if step.node.core.machine.isWaitingForGroup, let group = step.node.core.machine.groupNode {
        self.add(group, isBeginning: true, after: index)
      }
    }
    if !step.isBeginning {
      for awaited in step.node.state.awaited { self.add(awaited, isBeginning: false, after: index) }
      // A group ends after its children.
      for child in step.node.state.groupCore?.machine.members.all ?? [] {
        self.add(child, isBeginning: false, after: index)
      }
    }
    return (step.node, index)
  }

  private mutating func add(_ node: ScheduledNode, isBeginning: Bool, after previous: Int?) {
    guard !node.hasOutcome, !(isBeginning && node.hasBegun) else { return }
    guard self.known.insert(Key(node: ObjectIdentifier(node), isBeginning: isBeginning)).inserted else { return }
    self.steps.append(Step(node: node, isBeginning: isBeginning, previous: previous))
  }

  func path(to index: Int) -> [ScheduledNode] {
    var nodes: [ScheduledNode] = []
    var step: Int? = index
    while let current = step {
      nodes.append(self.steps[current].node)
      step = self.steps[current].previous
    }
    return nodes.reversed()
  }
}

extension ScheduledNode {
  /// Whether something may wait for the operation, so that a further wait of the operation may close a circle.
  var mayBeAwaited: Bool {
    !self.state.dependents.isEmpty || !self.state.vitalPlaces.isEmpty || self.state.unique != nil
      || self.state.isAwaited || self.state.groupCore != nil || self.core.machine.groupNode != nil
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
