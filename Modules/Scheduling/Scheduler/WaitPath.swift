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

  /// The operations that wait for each other with `node`, which is the first and the last of them; nil if there are
  /// none.
  ///
  /// - Complexity: O(*n*) in the operations that `node` waits for.
  static func circle(through node: ScheduledNode) -> [ScheduledNode]? {
    var search = WaitSearch(node)
    while search.next() != nil {
      if let index = search.returnIndex { return search.path(to: index) + [node] }
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
///
/// It visits a vital operation and a barrier once, and not once for each operation that they hold back.
private struct WaitSearch {
  private enum Target {
    case end(ScheduledNode)
    case beginning(ScheduledNode)
    /// The vital operations of a scheduler with tickets below one.
    case vitals(SchedulerCore, before: UInt64)
    /// The operations of a scheduler between two barriers, and those before them.
    case segment(SchedulerCore, Int)
  }

  private enum Key: Hashable {
    case end(ObjectIdentifier)
    case beginning(ObjectIdentifier)
    case vitals(ObjectIdentifier, UInt64)
    case segment(ObjectIdentifier, Int)
  }

  private struct Step {
    let target: Target
    let previous: Int?
  }

  private let start: ScheduledNode
  private var steps: [Step] = []
  private var known: Set<Key> = []
  private var position = 0
  private var segments: [ObjectIdentifier: [Int: [ScheduledNode]]] = [:]
  /// The index of a step that waits for the end of the first operation.
  private(set) var returnIndex: Int?

  init(_ start: ScheduledNode) {
    self.start = start
    self.add(start, isBeginning: false, after: nil)
  }

  mutating func next() -> (ScheduledNode, Int)? {
    while self.position < self.steps.count {
      let index = self.position
      self.position += 1
      switch self.steps[index].target {
      case .end(let node):
        self.addBeginning(of: node, index)
        for awaited in node.state.awaited { self.add(awaited, isBeginning: false, after: index) }
        // A group ends after its children.
        for child in node.state.groupCore?.machine.members.all ?? [] {
          self.add(child, isBeginning: false, after: index)
        }
        return (node, index)
      case .beginning(let node):
        self.addBeginning(of: node, index)
        return (node, index)
      case .vitals(let core, let ticket):
        guard let (vital, previous) = core.machine.vitals.lastEntry(before: ticket) else { continue }
        self.add(vital, isBeginning: false, after: index)
        self.addVitals(of: core, before: previous, index)
      case .segment(let core, let number):
        self.addSegment(number, of: core, index)
      }
    }
    return nil
  }

  /// Adds what an operation that has not begun waits for.
  private mutating func addBeginning(of node: ScheduledNode, _ index: Int) {
    guard !node.hasBegun else { return }
    for prerequisite in node.state.prerequisites { self.add(prerequisite.node, isBeginning: false, after: index) }
    if node.state.isHeld { self.addVitals(of: node.core, before: node.state.rank, index) }
    if node.isBarrier { self.addSegments(of: node.core, through: node.state.segment - 1, index) }
    if let previous = node.state.unique?.previousNode { self.add(previous, isBeginning: false, after: index) }
    // A child begins after its group has begun.
    if node.core.machine.isWaitingForGroup, let group = node.core.machine.groupNode {
      self.add(group, isBeginning: true, after: index)
    }
  }

  private mutating func addVitals(of core: SchedulerCore, before ticket: UInt64, _ index: Int) {
    guard self.known.insert(.vitals(ObjectIdentifier(core), ticket)).inserted else { return }
    self.steps.append(Step(target: .vitals(core, before: ticket), previous: index))
  }

  private mutating func addSegments(of core: SchedulerCore, through number: Int, _ index: Int) {
    guard number >= core.machine.segments.first else { return }
    guard self.known.insert(.segment(ObjectIdentifier(core), number)).inserted else { return }
    self.steps.append(Step(target: .segment(core, number), previous: index))
  }

  private mutating func addSegment(_ number: Int, of core: SchedulerCore, _ index: Int) {
    let id = ObjectIdentifier(core)
    if self.segments[id] == nil {
      self.segments[id] = Dictionary(grouping: core.machine.members.all, by: \.state.segment)
    }
    for node in self.segments[id]?[number] ?? [] { self.add(node, isBeginning: false, after: index) }
    self.addSegments(of: core, through: number - 1, index)
  }

  private mutating func add(_ node: ScheduledNode, isBeginning: Bool, after previous: Int?) {
    guard !node.hasOutcome, !(isBeginning && node.hasBegun) else { return }
    let id = ObjectIdentifier(node)
    if !isBeginning, node === self.start, self.returnIndex == nil { self.returnIndex = previous }
    guard self.known.insert(isBeginning ? .beginning(id) : .end(id)).inserted else { return }
    self.steps.append(Step(target: isBeginning ? .beginning(node) : .end(node), previous: previous))
  }

  func path(to index: Int) -> [ScheduledNode] {
    var nodes: [ScheduledNode] = []
    var step: Int? = index
    while let current = step {
      switch self.steps[current].target {
      case .end(let node), .beginning(let node): nodes.append(node)
      case .vitals, .segment: break
      }
      step = self.steps[current].previous
    }
    return nodes.reversed()
  }
}

extension ScheduledNode {
  /// Whether something may wait for the operation, so that a further wait of the operation may close a circle.
  var mayBeAwaited: Bool {
    if !self.state.dependents.isEmpty || !self.state.vitalPlaces.isEmpty || self.state.unique != nil
      || self.state.isAwaited || self.state.groupCore != nil
    {
      return true
    }
    // Its group and later barriers wait for an operation that is in its scheduler.
    return self.state.phase != .new
      && (self.core.machine.groupNode != nil || self.state.segment < self.core.machine.segments.current)
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
