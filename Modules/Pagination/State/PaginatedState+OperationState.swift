public import OperationCore

extension PaginatedState: OperationState {
  /// False: `scheduleFetchTask(_:)` does not read the clock.
  public static var datesRuns: Bool { false }

  public static var hasHistory: Bool { false }

  /// Adds a task that is about to run. The task waits for the active tasks that must not run at the same time.
  @inlinable
  public mutating func scheduleFetchTask(_ task: inout FetchTask) {
    let run = self.makeRun(of: task)
    task.context.runAttachment = run
    // A run that gets this context from the request must not inherit the request kind.
    task.context.unset(PageRequestKind.Key.self)
    if run.selection != nil { task.context.unset(PageSelection.Key.self) }
    let storage = self.uniqueStorage()
    switch run.request {
    case .initialPage: storage.content.initialPageActiveTasks.append(task)
    case .nextPage: storage.content.nextPageActiveTasks.append(task)
    case .previousPage: storage.content.previousPageActiveTasks.append(task)
    case .allPages: storage.content.allPagesActiveTasks.append(task)
    }
  }

  /// Replaces a task with a copy that reports another attempt or pause.
  public mutating func updateFetchTask(_ task: FetchTask) {
    let storage = self.uniqueStorage()
    storage.content.initialPageActiveTasks.replace(task)
    storage.content.nextPageActiveTasks.replace(task)
    storage.content.previousPageActiveTasks.replace(task)
    storage.content.allPagesActiveTasks.replace(task)
  }

  /// Restores the initial pages, and returns the tasks to cancel.
  public mutating func reset(using context: OperationContext) -> OperationStateResetEffect<Self> {
    let effect = OperationStateResetEffect<Self>(tasksToCancel: self.activeTasks)
    let content = self.storage.content
    self = Self(
      initialValue: content.initialValue,
      initialPageId: content.initialPageId,
      order: content.order,
      steps: content.steps
    )
    return effect
  }

  /// Forgets the initial pages.
  public mutating func removeInitialValue() {
    let content = self.storage.content
    self = Self(initialValue: [], initialPageId: content.initialPageId, order: content.order, steps: content.steps)
  }

  /// Sets the pages or an error from outside any run.
  @inlinable
  public mutating func update(
    with result: Result<Pages<PageID, PageValue>, PageFailure>,
    using context: OperationContext
  ) {
    switch result {
    case .success(var pages):
      pages.date(PageTime(context.date), initialPages: self.initialValue)
      self.set(pages, in: context)
      self.forgetStamps()
    case .failure(let error): self.set(error, in: context)
    }
  }

  /// Applies a result that a run has yielded or returned.
  @inlinable
  public mutating func update(
    with result: Result<PaginatedOperationValue<PageID, PageValue>, PageFailure>,
    for task: FetchTask
  ) {
    switch result {
    case .success(let value): self.receive(value, of: task)
    case .failure(let error): self.set(error, in: task.context)
    }
  }

  /// Whether the success of a task replaces all pages. A next or a previous page does not, also while it waits, nor do
  /// pages while others stay.
  @inlinable
  public func isRefreshed(by task: FetchTask) -> Bool {
    guard let run: Run = task.context.pagingRun() else {
      return switch task.context[PageRequestKind.Key.self] ?? .existing {
      case .existing: true
      case .all: !self.currentValue.isEmpty
      case .next, .previous, .selected: false
      }
    }
    return switch run.targetRequest ?? run.request {
    case .nextPage, .previousPage: false
    case .allPages: run.hadPages && run.selection?.keepsRest != true
    // If another run loads the initial page first, this one may load the page after that, or the pages that its caller has chosen.
    case .initialPage: run.requestKind == .existing || run.targetRequest != nil || run.isShared
    }
  }

  /// Removes a task that has ended.
  @inlinable
  public mutating func finishFetchTask(_ task: FetchTask) {
    let storage = self.uniqueStorage()
    storage.content.initialPageActiveTasks.remove(task.id)
    storage.content.nextPageActiveTasks.remove(task.id)
    storage.content.previousPageActiveTasks.remove(task.id)
    storage.content.allPagesActiveTasks.remove(task.id)
  }
}

extension PaginatedState: PartwiseReplacingState {
  /// The number of the page that the run is fetching, counted from the start of the run.
  public static func replacedPart(in context: OperationContext) -> Int? {
    let run: Run? = context.pagingRun()
    return run?.log.pageCount
  }
}

extension PaginatedState: OverlayableState {
  /// Replaces the pages, and changes nothing else.
  public mutating func replaceValue(with value: Pages<PageID, PageValue>) {
    self.currentValue = value
  }

  /// Stores the pages without optimistic updates, next to which further pages are loaded.
  public mutating func didReplaceValue(inCopyOf original: Self) {
    self.uniqueStorage().content.pagesBelow = original.currentValue
  }
}

extension PaginatedState {
  /// The tasks that are running.
  var activeTasks: [FetchTask] {
    self.initialPageActiveTasks + self.nextPageActiveTasks + self.previousPageActiveTasks + self.allPagesActiveTasks
  }

  @inlinable
  mutating func set(_ pages: Pages<PageID, PageValue>, in context: OperationContext) {
    let storage = self.uniqueStorage()
    storage.content.currentValue = pages
    storage.content.valueUpdateCount += 1
    storage.content.valueLastUpdatedAt = context.date
    storage.content.error = nil
  }

  @inlinable
  mutating func set(_ error: PageFailure, in context: OperationContext) {
    let storage = self.uniqueStorage()
    storage.content.error = error
    storage.content.errorUpdateCount += 1
    storage.content.errorLastUpdatedAt = context.date
  }
}

extension PaginatedState {
  /// Notes the stamp of pages that a run has yielded or returned, as far as the state has taken them.
  ///
  /// - Parameters:
  ///   - stamp: The stamp.
  ///   - value: The pages.
  ///   - revision: The revision of the run.
  @usableFromInline
  mutating func note(_ stamp: ValueStamp, of value: OperationValue, from revision: Revision?) {
    let isPlain = stamp == ValueStamp(.final)
    if isPlain, self.storage.content.stamps.isEmpty { return }
    let storage = self.uniqueStorage()
    let pages = storage.content.currentValue
    for id in value.pageIDs where revision == nil || pages.entry(of: id)?.revision == revision {
      storage.content.stamps[id] = isPlain ? nil : stamp
    }
    storage.content.stamps = storage.content.stamps.filter { pages.contains(id: $0.key) }
  }

  /// All pages count as returned or set from now on.
  @usableFromInline
  mutating func forgetStamps() {
    if !self.storage.content.stamps.isEmpty { self.uniqueStorage().content.stamps = [:] }
  }
}

extension PaginatedOperationValue {
  /// The identifiers of the pages.
  fileprivate var pageIDs: [PageID] {
    switch self {
    case .initialPage(let page), .nextPage(let page?), .previousPage(let page?): [page.id]
    case .nextPage(nil), .previousPage(nil): []
    case .allPages(let pages): pages.map(\.id)
    }
  }
}

extension Array {
  mutating func replace<Value, Failure>(_ task: Element) where Element == OperationTask<Value, Failure> {
    if let index = self.lastIndex(where: { $0.id == task.id }) { self[index] = task }
  }

  @inlinable
  mutating func remove<Value, Failure>(_ id: OperationTaskIdentifier)
  where Element == OperationTask<Value, Failure> {
    guard let index = self.lastIndex(where: { $0.id == id }) else { return }
    if index == self.count - 1 { self.removeLast() } else { self.remove(at: index) }
  }
}
