public import OperationCore

extension PaginatedState {
  @usableFromInline typealias Run = PagingRun<PageID, PageValue, PageFailure>

  /// What belongs to the run of a task. When the task has started before, as when changes are replayed, it is what it was.
  @inlinable
  func makeRun(of task: FetchTask) -> Run {
    let run: Run? = task.context.pagingRun()
    if let run, run.taskID == task.id { return run }
    let requestKind = task.context[PageRequestKind.Key.self] ?? .whatIsThere
    let request = requestKind.request(hasPages: !self.currentValue.isEmpty)
    return Run(
      taskID: task.id,
      requestKind: requestKind,
      request: request,
      pages: self.currentValue,
      predecessors: self.predecessors(of: task, for: request),
      eventOrder: task.context.storeEventOrder
    )
  }

  /// The runs that a new one waits for.
  ///
  /// The next and the previous page may load at once. Two loads at one end come one after the other, so that each brings a
  /// page of its own. A refetch and the loads of single pages keep apart.
  @inlinable
  func predecessors(of task: FetchTask, for request: PagingRequest) -> [Run.Predecessor] {
    self.isLoading ? self.runningPredecessors(of: task, for: request) : []
  }

  // Not inlined: mostly one run is under way.
  @usableFromInline
  func runningPredecessors(of task: FetchTask, for request: PagingRequest) -> [Run.Predecessor] {
    let lanes: [(request: PagingRequest, tasks: [FetchTask])] = [
      (.initialPage, self.initialPageActiveTasks), (.allPages, self.allPagesActiveTasks),
      (.nextPage, self.nextPageActiveTasks), (.previousPage, self.previousPageActiveTasks),
    ]
    WaitGraph.noteEdge()
    // The last of a lane waits for those before it.
    return lanes.compactMap { lane in
      guard request.excludes(lane.request), let last = lane.tasks.last(where: { !self.waits($0, for: task) }),
        let run: Run = last.context.pagingRun()
      else { return nil }
      return Run.Predecessor(sharedRun: last.sharedRun, run: run)
    }
  }

  /// Whether a task waits for one that has just started, because somebody has scheduled it so.
  private func waits(_ task: FetchTask, for goal: FetchTask) -> Bool {
    guard goal.sharedRun.isPrerequisite else { return false }
    let runs: [OperationTaskIdentifier: Run] = self.activeTasks.reduce(into: [:]) { $0[$1.id] = $1.context.pagingRun() }
    var visited: Set<OperationTaskIdentifier> = []
    var pending: [any TaskNode] = [task.sharedRun]
    while let node = pending.popLast() {
      if node.id == goal.id { return true }
      guard visited.insert(node.id).inserted else { continue }
      pending += node.prerequisites
      pending += runs[node.id]?.predecessors.map(\.sharedRun) ?? []
    }
    return false
  }
}
