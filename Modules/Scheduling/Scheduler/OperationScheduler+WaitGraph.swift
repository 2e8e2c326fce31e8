internal import OperationCore
public import OperationEvents

extension OperationScheduler: OperationWaitGraphSource {
  /// What the operations of the scheduler do, and what they wait for: each other, categories, a place.
  ///
  /// Operations of other schedulers and runs outside of schedulers are in the graph where they are waited for.
  ///
  /// - Parameter limit: The greatest number of nodes. Operations that were scheduled earlier come first.
  /// - Returns: The graph, which contains no value of an operation.
  /// - Complexity: O(*n*) in `limit`.
  public func waitGraph(limit: Int) -> OperationWaitGraph { self.core.waitGraph(limit: max(1, limit)) }
}

/// What one operation does and waits for, as the scheduling lock guards it.
private struct MemberWaits: Sendable {
  let node: ScheduledNode
  let phase: ScheduledOperationSnapshot.Phase
  let isCancelled: Bool
  let hasPlace: Bool
  /// The operations that it waits for, what they do, and why it waits.
  var operations: [(node: ScheduledNode, phase: ScheduledOperationSnapshot.Phase, reason: String)] = []
  /// The lanes of the categories that it waits for, with the categories.
  var lanes: [(slot: Int, category: String)] = []
  /// What else it waits for.
  var resources: [String] = []
}

extension SchedulerCore {
  fileprivate func waitGraph(limit: Int) -> OperationWaitGraph {
    let (members, count, width, isSuspended) = SchedulingLock.withLock {
      let nodes = self.machine.members.prefix(limit, before: .max)
      return (nodes.map(\.memberWaits), self.machine.members.count, self.machine.width, self.machine.isSuspended)
    }
    var builder = OperationWaitGraph.Builder(limit: limit)
    for member in members { builder.addOperation(member.node, member.node.name, member.state) }
    for member in members { self.addWaits(of: member, to: &builder) }
    let place = self.place(ofWidth: width)
    if members.contains(where: { $0.phase == .waitingForPlace }) {
      for member in members where member.phase == .waitingForPlace {
        builder.addWait(of: builder.operation(member.node), for: builder.addResource(place))
      }
      for member in members where member.hasPlace {
        builder.addWait(of: builder.addResource(place), for: builder.operation(member.node), because: "place")
      }
    }
    let bound = width == .max ? "" : ", at most \(width) at a time"
    let summary = ShownText.count(count, "operation") + bound + (isSuspended ? ", suspended" : "")
    return builder.graph(named: self.name, summary, leftOut: count - members.count)
  }

  private func place(ofWidth width: Int) -> String { "a place of \(self.name), which has \(width)" }

  private func addWaits(of member: MemberWaits, to builder: inout OperationWaitGraph.Builder) {
    let number = builder.operation(member.node)
    for (node, phase, reason) in member.operations {
      builder.addWait(of: number, for: builder.addOperation(node, node.name, phase.rawValue), because: reason)
    }
    for (slot, category) in member.lanes {
      guard let holder = ExclusionLock.holders(of: [slot]).first else { continue }
      let target =
        holder.nodes.first.map { builder.addOperation($0, $0.name, "holds \(category)") }
        ?? builder.addOperation(holder, holder.name, "holds \(category)")
      builder.addWait(of: number, for: target, because: "category \(category)")
    }
    for resource in member.resources { builder.addWait(of: number, for: builder.addResource(resource)) }
  }
}

extension MemberWaits {
  fileprivate var state: String {
    let text = self.phase.rawValue
    return self.isCancelled ? "\(text) (cancelled)" : text
  }
}

// Called under the scheduling lock.
extension ScheduledNode {
  fileprivate var memberWaits: MemberWaits {
    let phase = self.snapshotPhase.phase
    var member = MemberWaits(
      node: self,
      phase: phase,
      isCancelled: self.state.isCancelled,
      hasPlace: self.state.hasPlace
    )
    switch phase {
    case .waitingForDependencies: member.operations = self.operationsBefore
    case .waitingForGroup:
      if let group = self.core.machine.groupNode {
        member.operations = [(group, group.snapshotPhase.phase, "its group")]
      } else {
        member.resources = ["the beginning of \(self.core.name)"]
      }
    case .suspended: member.resources = ["the resumption of \(self.core.name)"]
    case .waitingForCategories, .waitingForUniqueWork, .waitingForOperations, .waitingUntilEmpty, .paused:
      for wait in self.state.waits where wait.phase == phase { member.add(wait) }
    case .waitingForPlace, .evaluatingConditions, .running, .ending: break
    }
    return member
  }

  /// What it waits for before it is ready.
  private var operationsBefore: [(node: ScheduledNode, phase: ScheduledOperationSnapshot.Phase, reason: String)] {
    let (core, limit) = (self.core, 16)
    var nodes = self.state.prerequisites.map { ($0.node, "dependency") }
    if let previous = self.state.unique?.previous?.node { nodes.append((previous, "unique work")) }
    if self.state.isHeld {
      nodes += core.machine.vitals.prefix(limit, before: self.state.rank).map { ($0, "vital") }
    }
    if self.isBarrier {
      nodes += core.machine.members.prefix(limit, before: self.state.memberTicket).map { ($0, "barrier") }
    }
    return nodes.filter { !$0.0.isEnded }.map { ($0.0, $0.0.snapshotPhase.phase, $0.1) }
  }
}

extension MemberWaits {
  fileprivate mutating func add(_ wait: NodeWait) {
    self.operations += wait.nodes.filter { !$0.isEnded }.map { ($0, $0.snapshotPhase.phase, "value") }
    self.lanes += zip(wait.slots, wait.names).map { ($0, $1) }
    guard wait.nodes.isEmpty, wait.slots.isEmpty else { return }
    self.resources += wait.names.map { name in
      switch wait.phase {
      case .waitingUntilEmpty: "the end of all operations of \(name)"
      case .waitingForUniqueWork: "an earlier run of the unique work \(name)"
      default: name
      }
    }
  }
}
