internal import Synchronization

extension SharedRun: WaitNode {
  /// The runs that this run waits for.
  package var prerequisites: [SharedRun] {
    let (dependencies, source) = self.withState { ($0.dependencies?.all ?? [], $0.source) }
    return dependencies.map(\.node) + (source.map { [$0.node] } ?? [])
  }

  /// Whether another run was ever made to wait for this one.
  package var isPrerequisite: Bool { self.withState { $0.isPrerequisite } }

  /// Notes that another run waits for this one.
  func becomePrerequisite() {
    self.withState { $0.isPrerequisite = true }
  }

  /// Starts the run if it has not started, and waits until it has finished or the current task is cancelled.
  nonisolated(nonsending) func waitAsDependent(in context: OperationContext) async {
    // A caller that starts the run becomes its owner. A caller that finds it started only waits.
    if self.hasStarted {
      await self.settled()
    } else {
      _ = await self.startAndWait(in: context, mode: .enqueued, leaving: .atOnce)
    }
  }

  @usableFromInline package var waits: [WaitEdge] {
    let (delegate, hasFinished) = self.withState { ($0.delegate, $0.phase == .finished) }
    // A finished run waits for nothing. Its last waits are still noted.
    if hasFinished { return [] }
    let scheduled = self.prerequisites.map { WaitEdge($0, isCall: false) }
    let noted = (self.notedWaits?.edges ?? []) + self.nodeWorks.flatMap { $0.edges }
    return scheduled + noted + (delegate?.waits(of: self) ?? [])
  }

  /// The works of nodes that are a part of the run's work: what their child tasks wait for, the run waits for.
  private var nodeWorks: [NodeWork] {
    guard NodeWork.exist, let task = self.withState({ $0.phase == .executing ? $0.task : nil }) else { return [] }
    return NodeWork.works(inTask: task.identity, of: self.notedWaits)
  }

  @usableFromInline package var isEndedByCurrentTask: Bool {
    let task = self.withState { $0.phase == .executing ? $0.task : nil }
    guard let task else { return false }
    return task.identity == RunTask.current.identity || CallInTask.isCurrentTaskAwaited(by: task.identity)
      || self.notedWaits?.isInChildTask ?? false || self.nodeWorks.contains { $0.isInCurrentTask }
  }

  @usableFromInline package var isQueue: Bool { false }

  /// What the work of the run waits for, as far as it is noted: always if callers share the run.
  private var notedWaits: RunWaits? { self.waitsOfWork ?? (LateRunWaits.exist ? LateRunWaits.of(self) : nil) }

  @usableFromInline package var waitName: String? { self.withState { $0.delegate }?.waitName }

  /// Makes this run wait for another run, unless that would close a cycle, which is reported instead.
  func depend(on dependency: TaskDependency) {
    // Released after unlocking, with the runs that it has visited: a deinitializer may call user code.
    var search = TaskGraph.Search()
    let closesCycle = TaskGraph.edges.withLock { _ in
      if TaskGraph.reaches(from: dependency.node, to: self, &search) { return true }
      dependency.node.becomePrerequisite()
      WaitGraph.noteEdge()
      self.withState { $0.insert(dependency) }
      return false
    }
    _ = consume search
    guard closesCycle else { return }
    OperationWarning(
      code: .taskCycle,
      message: """
        Task \(self.id) was scheduled after task \(dependency.node.id), which already waits for it. The call was \
        ignored, so that both run. Schedule tasks in one direction only.
        """
    ).report()
  }
}

/// The graph of tasks that were scheduled after other tasks.
enum TaskGraph {
  /// Held while an edge is checked and added, so that two callers cannot close a cycle together.
  static let edges = Mutex(())

  typealias Search = GraphSearch<SharedRun, OperationTaskIdentifier>

  /// Searches for `goal` among the nodes that `start` waits for, directly or through others.
  ///
  /// - Parameters:
  ///   - start: Where the search starts.
  ///   - goal: The node to find; `start` itself is found, too.
  ///   - search: The search, which keeps the visited nodes for the caller to release after unlocking.
  /// - Returns: Whether `goal` was found.
  /// - Complexity: O(1) if no node was made to wait for `goal`. Otherwise O(*n*) in the nodes that `start` waits for.
  static func reaches(from start: SharedRun, to goal: SharedRun, _ search: inout Search) -> Bool {
    // No path leads to a node that no other waits for, so a chain grows in constant time per link, at either end.
    guard goal.isPrerequisite || start === goal else { return false }
    search.add(start, start.id)
    while let (step, node) = search.next() {
      if node === goal { return true }
      for prerequisite in node.prerequisites { search.add(prerequisite, prerequisite.id, after: step) }
    }
    return false
  }
}
