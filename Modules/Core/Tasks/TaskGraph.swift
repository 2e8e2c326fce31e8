import Synchronization

/// A flight seen as a node of the graph of what waits for what.
package protocol TaskNode: AnyObject, Sendable {
  var id: OperationTaskIdentifier { get }
  /// What this node waits for.
  var prerequisites: [any TaskNode] { get }
  /// Begins the flight if nobody has, and waits until it is over or the current task is cancelled.
  func settled(in context: OperationContext) async
}

extension Flight: TaskNode {
  package var prerequisites: [any TaskNode] {
    let (dependencies, source) = self.state.withLock { ($0.dependencies, $0.source) }
    return dependencies.map(\.node) + (source.map { [$0] } ?? [])
  }

  package func settled(in context: OperationContext) async {
    // Who begins a flight is a reason for it to go on; who finds it under way only waits.
    if self.hasStarted {
      await self.settled()
    } else {
      _ = await self.outcome(in: context, departure: .enqueued, leaving: .atOnce)
    }
  }

  /// Makes this flight wait for another one, unless the two would then wait for each other.
  func depend(on dependency: TaskDependency) {
    let closesCircle = TaskGraph.edges.withLock { _ in
      if TaskGraph.reaches(from: dependency.node, to: self) { return true }
      self.state.withLock { state in
        guard case .grounded = state.phase else { return }
        guard !state.dependencies.contains(where: { $0.node === dependency.node }) else { return }
        state.dependencies.append(dependency)
      }
      return false
    }
    guard closesCircle else { return }
    OperationWarning(
      code: .taskCircle,
      message: """
        Task \(self.id) was scheduled after task \(dependency.node.id), which already waits for it. The call was \
        ignored, so that both run. Schedule tasks in one direction only.
        """
    ).report()
  }
}

/// Something that a task waits for before it runs.
struct TaskDependency: Sendable {
  let node: any TaskNode
  let context: OperationContext

  /// Runs all of `dependencies` that do not run yet, and waits for all of them. Whether they fail makes no difference.
  static func settle(_ dependencies: [TaskDependency]) async {
    if dependencies.count == 1 { return await dependencies[0].settled() }
    await withDiscardingTaskGroup { group in
      for dependency in dependencies { group.addTask { await dependency.settled() } }
    }
  }

  private func settled() async {
    await self.node.settled(in: self.context)
  }
}

enum TaskGraph {
  /// Held while an edge is looked at and added, so that two callers cannot close a circle between them.
  static let edges = Mutex(())

  static func reaches(from start: any TaskNode, to goal: any TaskNode) -> Bool {
    var visited: Set<OperationTaskIdentifier> = []
    var pending = [start]
    while let node = pending.popLast() {
      if node === goal { return true }
      if visited.insert(node.id).inserted { pending.append(contentsOf: node.prerequisites) }
    }
    return false
  }
}
