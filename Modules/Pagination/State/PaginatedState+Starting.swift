public import OperationCore

extension PaginatedState {
  @usableFromInline typealias Run = PagingRun<PageID, PageValue, PageFailure>

  /// Returns the attachment of a task's run.
  ///
  /// A task that has started before keeps its attachment: a store schedules it again when it replays changes.
  @inlinable
  func makeRun(of task: FetchTask) -> Run {
    let run: Run? = task.context.pagingRun()
    if let run, run.taskID == task.id { return run }
    let requestKind = task.context[PageRequestKind.Key.self] ?? .existing
    let request = requestKind.request(hasPages: !self.currentValue.isEmpty)
    return Run(
      taskID: task.id,
      requestKind: requestKind,
      request: request,
      selection: requestKind == .selected ? task.context[PageSelection.Key.self] : nil,
      pages: self.currentValue,
      invalidation: task.context.lastInvalidation,
      predecessors: self.predecessors(of: task, for: request),
      eventOrder: task.context.storeEventOrder
    )
  }

  /// The runs that a new run waits for.
  ///
  /// The next and the previous page may load at the same time. Two loads at one end run one after the other, so that
  /// each loads another page. A refetch waits for all active runs.
  @inlinable
  func predecessors(of task: FetchTask, for request: PagingRequest) -> [Run.Predecessor] {
    self.isLoading ? self.runningPredecessors(of: task, for: request) : []
  }

  // Not inlined: usually no other run is active.
  @usableFromInline
  func runningPredecessors(of task: FetchTask, for request: PagingRequest) -> [Run.Predecessor] {
    let lanes: [(request: PagingRequest, tasks: [FetchTask])] = [
      (.initialPage, self.initialPageActiveTasks), (.allPages, self.allPagesActiveTasks),
      (.nextPage, self.nextPageActiveTasks), (.previousPage, self.previousPageActiveTasks),
    ]
    WaitGraph.noteEdge()
    // One task of each lane suffices: it waits for the ones before it.
    return lanes.compactMap { lane in
      guard request.waits(for: lane.request), let last = lane.tasks.last(where: { !self.waits($0, for: task) }),
        let run: Run = last.context.pagingRun()
      else { return nil }
      return Run.Predecessor(sharedRun: last.sharedRun, run: run)
    }
  }

  /// Whether an active task waits for the task that starts now, as it can when a caller has made one depend on the
  /// other.
  private func waits(_ task: FetchTask, for newTask: FetchTask) -> Bool {
    guard newTask.sharedRun.isPrerequisite else { return false }
    let runs: [OperationTaskIdentifier: Run] = self.activeTasks.reduce(into: [:]) { $0[$1.id] = $1.context.pagingRun() }
    var visited: Set<OperationTaskIdentifier> = []
    var pending: [SharedRun] = [task.sharedRun]
    while let node = pending.popLast() {
      if node.id == newTask.id { return true }
      guard visited.insert(node.id).inserted else { continue }
      pending += node.prerequisites
      pending += runs[node.id]?.predecessors.map(\.sharedRun) ?? []
    }
    return false
  }
}
