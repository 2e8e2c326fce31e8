public import OperationCore

extension PaginatedState: OperationState {
  /// Takes in a task that is about to run. It waits for those before it that it cannot run next to.
  public mutating func scheduleFetchTask(_ task: inout FetchTask) {
    let run = self.departure(of: task)
    task.context[PagingEntry<PageID, PageValue, PageFailure>.Key.self] = .run(run)
    switch run.request {
    case .initialPage: self.initialPageActiveTasks.append(task)
    case .nextPage: self.nextPageActiveTasks.append(task)
    case .previousPage: self.previousPageActiveTasks.append(task)
    case .allPages: self.allPagesActiveTasks.append(task)
    }
  }

  /// Goes back to the initial pages, and says which tasks to cancel for that.
  public mutating func reset(using context: OperationContext) -> OperationStateResetEffect<Self> {
    let effect = OperationStateResetEffect<Self>(tasksToCancel: self.activeTasks)
    self = Self(initialValue: self.initialValue, initialPageId: self.initialPageId, order: self.order)
    return effect
  }

  /// Sets the pages or an error from outside any run.
  public mutating func update(
    with result: Result<Pages<PageID, PageValue>, PageFailure>,
    using context: OperationContext
  ) {
    switch result {
    case .success(let pages): self.set(pages, in: context)
    case .failure(let error): self.set(error, in: context)
    }
  }

  /// Takes in what a run has yielded or returned.
  public mutating func update(
    with result: Result<PaginatedOperationValue<PageID, PageValue>, PageFailure>,
    for task: FetchTask
  ) {
    switch result {
    case .success(let value): self.land(value, of: task)
    case .failure(let error): self.set(error, in: task.context)
    }
  }

  /// Whether a task has brought all pages anew. One page more has not.
  public func isRefreshed(by task: FetchTask) -> Bool {
    guard let run = task.context[PagingEntry<PageID, PageValue, PageFailure>.Key.self]?.run else { return true }
    switch run.aim {
    case .nextPage, .previousPage: return false
    case .allPages: return run.hadPages
    case .initialPage, .demand, nil: return true
    }
  }

  /// Lets go of a task that has ended.
  public mutating func finishFetchTask(_ task: FetchTask) {
    self.initialPageActiveTasks.remove(task)
    self.nextPageActiveTasks.remove(task)
    self.previousPageActiveTasks.remove(task)
    self.allPagesActiveTasks.remove(task)
  }
}

extension PaginatedState: OverlayableState {
  /// Shows other pages. Nothing else changes.
  public mutating func replaceValue(with value: Pages<PageID, PageValue>) {
    self.currentValue = value
  }
}

extension PaginatedState {
  /// The tasks that are running.
  var activeTasks: [FetchTask] {
    self.initialPageActiveTasks + self.nextPageActiveTasks + self.previousPageActiveTasks + self.allPagesActiveTasks
  }

  mutating func set(_ pages: Pages<PageID, PageValue>, in context: OperationContext) {
    self.currentValue = pages
    self.valueUpdateCount += 1
    self.valueLastUpdatedAt = context.operationClock.now()
    self.error = nil
  }

  private mutating func set(_ error: PageFailure, in context: OperationContext) {
    self.error = error
    self.errorUpdateCount += 1
    self.errorLastUpdatedAt = context.operationClock.now()
  }
}

extension Array {
  fileprivate mutating func remove<Value, Failure>(_ task: OperationTask<Value, Failure>)
  where Element == OperationTask<Value, Failure> {
    guard let index = self.firstIndex(where: { $0.id == task.id }) else { return }
    self.remove(at: index)
  }
}
