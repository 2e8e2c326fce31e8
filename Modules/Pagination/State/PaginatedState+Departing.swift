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

  /// The runs that a new one waits for.
  ///
  /// The next and the previous page may load at once. Two loads at one end come one after the other, so that each brings a
  /// page of its own. A refetch and the loads of single pages keep apart.
  private func forerunners(of task: FetchTask, for request: PagingRequest) -> [Run.Forerunner] {
    let lanes =
      switch request {
      case .initialPage: [self.initialPageActiveTasks]
      case .nextPage: [self.initialPageActiveTasks, self.allPagesActiveTasks, self.nextPageActiveTasks]
      case .previousPage: [self.initialPageActiveTasks, self.allPagesActiveTasks, self.previousPageActiveTasks]
      case .allPages:
        [
          self.initialPageActiveTasks, self.allPagesActiveTasks, self.nextPageActiveTasks,
          self.previousPageActiveTasks,
        ]
      }
    // The last of a lane waits for those before it.
    return lanes.compactMap { lane in
      guard let last = lane.last(where: { !self.waits($0, for: task) }), let run = last.run() else { return nil }
      return Run.Forerunner(flight: last.flight, run: run)
    }
  }

  /// Whether a task waits for one that has just departed, because somebody has scheduled it so.
  private func waits(_ task: FetchTask, for goal: FetchTask) -> Bool {
    guard goal.flight.isPrerequisite else { return false }
    let runs = Dictionary(self.activeTasks.map { ($0.id, $0.run()) }) { first, _ in first }
    var visited: Set<OperationTaskIdentifier> = []
    var pending: [any TaskNode] = [task.flight]
    while let node = pending.popLast() {
      if node.id == goal.id { return true }
      guard visited.insert(node.id).inserted else { continue }
      pending += node.prerequisites
      pending += (runs[node.id] ?? nil)?.forerunners.map(\.flight) ?? []
    }
    return false
  }
}

extension OperationTask {
  /// What belongs to the run of a task that has departed.
  fileprivate func run<PageID, PageValue>() -> PagingRun<PageID, PageValue, Failure>?
  where Value == PaginatedOperationValue<PageID, PageValue> {
    self.context[PagingEntry<PageID, PageValue, Failure>.Key.self]?.run
  }
}
