internal import OperationCore

/// A breadth-first search through the runs that a run waits for.
///
/// It visits a vital operation and a barrier once, and not once for each operation that they hold back.
struct WaitSearch {
  private enum Target {
    case vertex(WaitVertex)
    /// The vital operations of a scheduler with tickets below one.
    case vitals(SchedulerCore, before: UInt64)
    /// The operations of a scheduler between two barriers, and those before them.
    case segment(SchedulerCore, Int)
  }

  private enum Key: Hashable {
    case end(ObjectIdentifier, isAdopted: Bool)
    case beginning(ObjectIdentifier, isAdopted: Bool)
    case vitals(ObjectIdentifier, UInt64, isAdopted: Bool)
    case segment(ObjectIdentifier, Int, isAdopted: Bool)
  }

  private struct Step {
    let target: Target
    let reason: WaitCycle.Reason
    /// Whether the run may use the categories of the run with which the search began, which waits for its end.
    let isAdopted: Bool
  }

  private let goals: Set<ObjectIdentifier>
  private let findsOperationsOnly: Bool
  private var search = GraphSearch<Step, Key>()
  private var segments: [ObjectIdentifier: [Int: [ScheduledNode]]] = [:]

  init(goals: Set<ObjectIdentifier>, findsOperationsOnly: Bool = false) {
    self.goals = goals
    self.findsOperationsOnly = findsOperationsOnly
  }

  /// The cycle that a wait of `scopes` closes, which are in one another.
  mutating func cycle(closedBy scopes: [RunScope]) -> WaitCycle? {
    guard let (found, vertex) = self.firstGoal() else { return nil }
    guard let boundary = scopes.firstIndex(where: { $0.node != nil }) else {
      return self.cycle(closedBy: vertex, upTo: found)
    }
    let isOwn = scopes[...boundary].contains { WaitVertex($0).id == vertex.id || ObjectIdentifier($0) == vertex.id }
    if isOwn { return self.cycle(closedBy: vertex, upTo: found) }
    // A group around the operation waits for it.
    var cycle = self.cycle(closedBy: WaitVertex(scopes[boundary]), upTo: found)
    cycle.links.append(WaitCycle.Link(waiter: vertex, reason: .groupMember))
    return cycle
  }

  mutating func cycle(closedBy closing: WaitVertex) -> WaitCycle? {
    self.firstGoal().map { self.cycle(closedBy: closing, upTo: $0.step) }
  }

  private mutating func firstGoal() -> (step: Int, vertex: WaitVertex)? {
    while let (index, step) = self.search.next() {
      if case .vertex(let vertex) = step.target, self.goals.contains(vertex.id) { return (index, vertex) }
      self.expand(step, after: index)
    }
    return nil
  }

  mutating func operations() -> [ScheduledNode] {
    var nodes: [ScheduledNode] = []
    while let (index, step) = self.search.next() {
      switch step.target {
      case .vertex(.end(let node)), .vertex(.beginning(let node)): nodes.append(node)
      case .vertex(.run), .vitals, .segment: break
      }
      self.expand(step, after: index)
    }
    return nodes
  }

  private func cycle(closedBy closing: WaitVertex, upTo last: Int) -> WaitCycle {
    var (links, waiter) = ([WaitCycle.Link](), closing)
    for step in self.search.path(to: last) {
      // Vital operations and segments stand for those that they contain.
      guard case .vertex(let vertex) = step.target else { continue }
      links.append(WaitCycle.Link(waiter: waiter, reason: step.reason))
      waiter = vertex
    }
    return WaitCycle(links: links)
  }

  mutating func add(
    _ vertex: WaitVertex,
    _ reason: WaitCycle.Reason,
    isAdopted: Bool = false,
    after previous: Int?
  ) {
    guard vertex.isAwaitable else { return }
    let key: Key =
      switch vertex {
      case .end, .run: .end(vertex.id, isAdopted: isAdopted)
      case .beginning: .beginning(vertex.id, isAdopted: isAdopted)
      }
    self.add(.vertex(vertex), key, reason, isAdopted: isAdopted, after: previous)
  }

  private mutating func add(
    _ target: Target,
    _ key: Key,
    _ reason: WaitCycle.Reason,
    isAdopted: Bool,
    after previous: Int?
  ) {
    self.search.add(Step(target: target, reason: reason, isAdopted: isAdopted), key, after: previous)
  }
}

// MARK: - What a run waits for

extension WaitSearch {
  private mutating func expand(_ step: Step, after index: Int) {
    switch step.target {
    case .vertex(let vertex):
      self.expand(vertex, isAdopted: step.isAdopted, after: index)
    case .vitals(let core, let ticket):
      guard let (vital, previous) = core.machine.vitals.lastEntry(before: ticket) else { return }
      self.add(.end(vital), .vital, isAdopted: step.isAdopted, after: index)
      self.addVitals(of: core, before: previous, isAdopted: step.isAdopted, after: index)
    case .segment(let core, let number):
      self.addSegment(number, of: core, isAdopted: step.isAdopted, after: index)
    }
  }

  /// Adds what a run waits for.
  mutating func expand(_ vertex: WaitVertex, isAdopted: Bool, after index: Int?) {
    switch vertex {
    case .beginning(let node):
      self.expandBeginning(of: node, isAdopted: isAdopted, after: index)
    case .end(let node):
      self.expandBeginning(of: node, isAdopted: isAdopted, after: index)
      if let scope = node.state.scope { self.expandWaits(of: scope, isAdopted: isAdopted, after: index) }
      // A group ends after its children.
      for child in node.state.groupCore?.machine.members.all ?? [] {
        self.add(.end(child), .groupMember, isAdopted: isAdopted, after: index)
      }
    case .run(let scope):
      self.expandWaits(of: scope, isAdopted: isAdopted, after: index)
    }
  }

  /// Adds what an operation that has not begun waits for.
  private mutating func expandBeginning(of node: ScheduledNode, isAdopted: Bool, after index: Int?) {
    guard !node.hasBegun else { return }
    for prerequisite in node.state.prerequisites {
      self.add(.end(prerequisite.node), .dependency, isAdopted: isAdopted, after: index)
    }
    if node.state.isHeld { self.addVitals(of: node.core, before: node.state.rank, isAdopted: isAdopted, after: index) }
    if node.isBarrier {
      self.addSegments(of: node.core, through: node.state.segment - 1, isAdopted: isAdopted, after: index)
    }
    if let member = node.state.unique { self.expandTurn(of: member, isAdopted: isAdopted, after: index) }
    // A child begins after its group has begun.
    if node.core.machine.isWaitingForGroup, let group = node.core.machine.groupNode {
      self.add(.beginning(group), .groupBeginning, isAdopted: isAdopted, after: index)
    }
  }

  private mutating func addVitals(of core: SchedulerCore, before ticket: UInt64, isAdopted: Bool, after index: Int?) {
    let key = Key.vitals(ObjectIdentifier(core), ticket, isAdopted: isAdopted)
    self.add(.vitals(core, before: ticket), key, .vital, isAdopted: isAdopted, after: index)
  }

  private mutating func addSegments(of core: SchedulerCore, through number: Int, isAdopted: Bool, after index: Int?) {
    guard number >= core.machine.segments.first else { return }
    let key = Key.segment(ObjectIdentifier(core), number, isAdopted: isAdopted)
    self.add(.segment(core, number), key, .barrier, isAdopted: isAdopted, after: index)
  }

  private mutating func addSegment(_ number: Int, of core: SchedulerCore, isAdopted: Bool, after index: Int) {
    let id = ObjectIdentifier(core)
    if self.segments[id] == nil {
      self.segments[id] = Dictionary(grouping: core.machine.members.all, by: \.state.segment)
    }
    for node in self.segments[id]?[number] ?? [] {
      self.add(.end(node), .barrier, isAdopted: isAdopted, after: index)
    }
    self.addSegments(of: core, through: number - 1, isAdopted: isAdopted, after: index)
  }

  private mutating func expandWaits(of scope: RunScope, isAdopted: Bool, after index: Int?) {
    guard !scope.waits.isEmpty else { return }
    for wait in scope.waits.all { self.expand(wait, isAdopted: isAdopted, after: index) }
  }

  /// Adds what a run waits for in a given wait.
  mutating func expand(_ wait: ScopeWait, isAdopted: Bool, after index: Int?) {
    switch wait.goal {
    case .value(let node):
      self.add(.end(node), .value, isAdopted: isAdopted, after: index)
    case .empty(let core):
      guard !self.findsOperationsOnly else { return }
      for node in core.machine.members.all { self.add(.end(node), .empty(core), after: index) }
    case .categories(let waiter):
      guard !self.findsOperationsOnly else { return }
      // An adopted run may use what the first run holds.
      let blockers = ExclusionLock.blockers(of: waiter, isInside: isAdopted ? self.goals : [])
      for blocker in blockers {
        let reason = WaitCycle.Reason.category(waiter.category(in: blocker.slot), isHeld: blocker.isHolder)
        self.add(WaitVertex(blocker.scope), reason, after: index)
      }
    case .unique(let member):
      self.expandTurn(of: member, isAdopted: isAdopted, after: index)
    }
  }

  private mutating func expandTurn(of member: UniqueMember, isAdopted: Bool, after index: Int?) {
    guard member.state.isWaiting, let previous = member.previous else { return }
    if let node = previous.node {
      self.add(.end(node), .unique(member.name), isAdopted: isAdopted, after: index)
    } else if let scope = previous.scope, !self.findsOperationsOnly {
      self.add(.run(scope), .unique(member.name), after: index)
    }
  }
}

extension WaitVertex {
  fileprivate var id: ObjectIdentifier {
    switch self {
    case .end(let node), .beginning(let node): ObjectIdentifier(node)
    case .run(let scope): ObjectIdentifier(scope)
    }
  }

  fileprivate var isAwaitable: Bool {
    switch self {
    case .end(let node): !node.hasOutcome
    case .beginning(let node): !node.hasBegun
    case .run: true
    }
  }
}
