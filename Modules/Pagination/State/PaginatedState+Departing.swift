internal import OperationCore

extension PaginatedState {
  typealias Run = PagingRun<PageID, PageValue, PageFailure>

  /// What belongs to the run of a task. When the task has departed before, as when changes are replayed, it is what it was.
  func departure(of task: FetchTask) -> Run {
    let entry = task.context[PagingEntry<PageID, PageValue, PageFailure>.Key.self]
    if let run = entry?.run, run.taskID == task.id { return run }
    // A run whose context was handed on from another asks for nothing by that.
    let demand = entry?.run == nil ? entry?.demand ?? .whatIsThere : .whatIsThere
    let request = demand.request(hasPages: !self.currentValue.isEmpty)
    return Run(
      taskID: task.id,
      demand: demand,
      request: request,
      pages: self.currentValue,
      forerunners: self.forerunners(of: task, for: request)
    )
  }

  /// The tasks that a new one waits for.
  ///
  /// The next and the previous page may load at once. Two loads at one end come one after the other, so that each brings a
  /// page of its own. A refetch and the loads of single pages keep apart.
  private func forerunners(of task: FetchTask, for request: PagingRequest) -> [FetchTask] {
    let candidates =
      switch request {
      case .initialPage: self.initialPageActiveTasks
      case .nextPage: self.initialPageActiveTasks + self.allPagesActiveTasks + self.nextPageActiveTasks
      case .previousPage: self.initialPageActiveTasks + self.allPagesActiveTasks + self.previousPageActiveTasks
      case .allPages: self.activeTasks
      }
    return candidates.filter { !self.waits($0, for: task) }
  }

  /// Whether a task waits for another, because somebody has scheduled it so or because it departed later.
  private func waits(_ task: FetchTask, for goal: FetchTask) -> Bool {
    var visited: Set<OperationTaskIdentifier> = []
    var pending: [any TaskNode] = [task.flight]
    while let node = pending.popLast() {
      if node.id == goal.id { return true }
      guard visited.insert(node.id).inserted else { continue }
      pending += node.prerequisites
      guard let active = self.activeTasks.first(where: { $0.id == node.id }) else { continue }
      let run = active.context[PagingEntry<PageID, PageValue, PageFailure>.Key.self]?.run
      pending += run?.forerunners.map { $0.flight } ?? []
    }
    return false
  }
}
