internal import Synchronization

/// A run seen as a node of the graph of what waits for what.
@usableFromInline
package protocol TaskNode: WaitNode {
  var id: OperationTaskIdentifier { get }
  /// What this node waits for.
  var prerequisites: [any TaskNode] { get }
  /// Whether another node has ever been made to wait for this one.
  var isPrerequisite: Bool { get }
  func becomePrerequisite()
  /// Begins the run if nobody has, and waits until it is over or the current task is cancelled.
  nonisolated(nonsending) func settled(in context: OperationContext) async
}

extension SharedRun: TaskNode {
  @usableFromInline
  package var prerequisites: [any TaskNode] {
    let (dependencies, source) = self.withState { ($0.dependencies?.all ?? [], $0.source) }
    return dependencies.map(\.node) + (source.map { [$0.node] } ?? [])
  }

  @usableFromInline
  package var isPrerequisite: Bool { self.withState { $0.isPrerequisite } }

  @usableFromInline
  package func becomePrerequisite() {
    self.withState { $0.isPrerequisite = true }
  }

  @usableFromInline
  package nonisolated(nonsending) func settled(in context: OperationContext) async {
    // Who begins a run is a reason for it to go on; who finds it under way only waits.
    if self.hasStarted {
      await self.settled()
    } else {
      _ = await self.outcome(in: context, mode: .enqueued, leaving: .atOnce)
    }
  }

  @usableFromInline package var waits: [WaitEdge] {
    let delegate = self.withState { _ in self.delegate }
    let scheduled = self.prerequisites.map { WaitEdge($0, isCall: false) }
    return scheduled + (self.loan?.waits ?? []) + (delegate?.waits(of: self) ?? [])
  }

  @usableFromInline package var isEndedByCurrentTask: Bool {
    let task = self.withState { $0.phase == .executing ? $0.task : nil }
    return task?.identity == RunTask.current.identity
  }

  @usableFromInline package var waitName: String? { self.withState { _ in self.delegate }?.waitName }

  @inlinable
  package nonisolated(nonsending) func ended() async {
    await self.settled()
  }

  /// Makes this run wait for another one, unless the two would then wait for each other.
  func depend(on dependency: TaskDependency) {
    var visited: [any TaskNode] = []
    let closesCircle = TaskGraph.edges.withLock { _ in
      if TaskGraph.reaches(from: dependency.node, to: self, visiting: &visited) { return true }
      dependency.node.becomePrerequisite()
      WaitGraph.noteEdge()
      self.withState { $0.insert(dependency) }
      return false
    }
    visited = []  // Only now: one that goes may run foreign code.
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
@usableFromInline
struct TaskDependency: Sendable {
  private let link: any TaskLinking
  private let context: OperationContext

  init(on task: OperationTask<some Sendable, some Error>) {
    self.link = TaskLink(task.sharedRun)
    self.context = task.context
  }

  var node: any TaskNode { self.link.node }

  /// Runs all of `dependencies` that do not run yet, and waits for all of them. Whether they fail makes no difference.
  @usableFromInline
  static func settle(_ dependencies: [TaskDependency]) async {
    if dependencies.isEmpty { return }
    if dependencies.count == 1 { return await dependencies[0].settled() }
    await withDiscardingTaskGroup { group in
      for dependency in dependencies { group.addTask { await dependency.settled() } }
    }
  }

  private func settled() async {
    await self.node.settled(in: self.context)
  }
}

/// What a task waits for, each once.
@usableFromInline
struct TaskDependencies: Sendable {
  @usableFromInline private(set) var all: [TaskDependency] = []
  private var identifiers: Set<OperationTaskIdentifier> = []

  @usableFromInline init() {}

  mutating func insert(_ dependency: TaskDependency) {
    if self.identifiers.insert(dependency.node.id).inserted { self.all.append(dependency) }
  }
}

enum TaskGraph {
  /// Held while an edge is looked at and added, so that two callers cannot close a circle between them.
  static let edges = Mutex(())

  /// - Parameter visited: Gets the nodes that were looked at, so that none of them goes while the lock is held.
  static func reaches(
    from start: any TaskNode,
    to goal: any TaskNode,
    visiting visited: inout [any TaskNode]
  ) -> Bool {
    // Nothing leads to a node for which nobody waits: so a chain costs the same for each link, whichever end it grows at.
    guard goal.isPrerequisite || start === goal else { return false }
    var known: Set<OperationTaskIdentifier> = [start.id]
    visited = [start]
    var next = 0
    while next < visited.count {
      let node = visited[next]
      if node === goal { return true }
      visited += node.prerequisites.filter { known.insert($0.id).inserted }
      next += 1
    }
    return false
  }
}
