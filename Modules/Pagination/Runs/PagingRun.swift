public import OperationCore
public import Synchronization

/// What belongs to one run of a paginated operation in a store, from its start on and through all its attempts.
@usableFromInline
final class PagingRun<PageID: Hashable & Sendable, PageValue: Sendable, Failure: Error>: Sendable {
  @usableFromInline typealias Log = PageEventLog<PageID, PageValue, Failure>

  /// A run that another one waits for.
  @usableFromInline
  struct Predecessor: Sendable {
    @usableFromInline let sharedRun: SharedRun<PaginatedOperationValue<PageID, PageValue>, Failure>
    @usableFromInline var run: PagingRun
  }

  @usableFromInline let taskID: OperationTaskIdentifier
  @usableFromInline let requestKind: PageRequestKind
  /// What the request kind came to at the start.
  @usableFromInline let request: PagingRequest
  /// The beginning of the run: what others write from then on stays.
  @usableFromInline let revision: Revision
  /// The pages at the start.
  @usableFromInline let pagesBeforeStart: Pages<PageID, PageValue>
  @usableFromInline let log: Log
  @usableFromInline let progress: Mutex<PagingProgress>

  // Unsafe only in name: touched by whoever holds the lock of the progress.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) var pendingPredecessors: [Predecessor]
  // Unsafe only in name, as the one above.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) var pagesAtStart: Pages<PageID, PageValue>?
  // Unsafe only in name, as the ones above.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) var startedRefetch: PageRefetch<PageID, PageValue>?
  // Unsafe only in name, as the ones above.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) var goalID: PageID?
  // Unsafe only in name, as the ones above.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) var goalNeighborID: PageID?

  /// Notes the start of a run.
  ///
  /// - Parameter predecessors: Runs to wait for.
  @inlinable
  init(
    taskID: OperationTaskIdentifier,
    requestKind: PageRequestKind,
    request: PagingRequest,
    pages: Pages<PageID, PageValue>,
    predecessors: [Predecessor],
    eventOrder: StoreEventOrder
  ) {
    self.taskID = taskID
    self.log = Log(order: eventOrder)
    self.requestKind = requestKind
    self.request = request
    self.revision = .now()
    self.pagesBeforeStart = pages
    self.pendingPredecessors = predecessors
    self.progress = Mutex(PagingProgress(waits: !predecessors.isEmpty))
  }

  deinit {
    if self.progress.withLock({ $0.waits }) { self.releasePredecessors() }
  }
}

// MARK: - What it waits for

extension PagingRun {
  /// The runs that this one waits for; none once it has.
  @inlinable
  var predecessors: [Predecessor] { self.progress.withLock { $0.waits ? self.pendingPredecessors : [] } }

  private func takePredecessors() -> [Predecessor] {
    self.progress.withLock { progress in
      progress.waits = false
      defer { self.pendingPredecessors = [] }
      return self.pendingPredecessors
    }
  }

  /// One by one, as a long chain of runs that wait for each other would not fit on the stack.
  private func releasePredecessors() {
    var pending = self.takePredecessors()
    while var predecessor = pending.popLast() {
      if isKnownUniquelyReferenced(&predecessor.run) { pending += predecessor.run.takePredecessors() }
    }
  }

  /// Waits for the runs before this one, and returns the initial page that one of them has loaded.
  ///
  /// It waits for no run next to which it may load: a cancelled run hands on all that it has waited for itself.
  ///
  /// Returns early, with nil, when the task is cancelled.
  @usableFromInline
  func awaitPredecessors() async -> Page<PageID, PageValue>? {
    var pending = self.predecessors
    var initialPage: Page<PageID, PageValue>?
    var visited: Set<OperationTaskIdentifier> = []
    while let predecessor = pending.popLast() {
      guard visited.insert(predecessor.run.taskID).inserted else { continue }
      if !self.request.excludes(predecessor.run.request) {
        pending += predecessor.run.predecessors
        continue
      }
      await predecessor.sharedRun.settled()
      if Task.isCancelled { return nil }
      if case .success(.initialPage(let page)) = predecessor.sharedRun.finishedOutcome { initialPage = page }
      // Those that it has not waited for itself, as it was cancelled.
      pending += predecessor.run.predecessors
    }
    _ = self.takePredecessors()
    return initialPage
  }
}

extension PagingRun: RunAttachment {
  @usableFromInline package var awaitedRuns: [WaitEdge] {
    self.predecessors.map { WaitEdge($0.sharedRun, isCall: false) }
  }
}

// MARK: - What it does

extension PagingRun {
  /// Whether there are runs to wait for.
  @inlinable
  var waits: Bool { self.progress.withLock { $0.waits } }

  /// Whether what the run returns was loaded, and has finished, by another.
  @inlinable
  var isShared: Bool {
    get { self.progress.withLock { $0.isShared } }
    set { self.progress.withLock { $0.isShared = newValue } }
  }

  /// What the run has begun to load; nil before it does.
  @inlinable
  var goal: PagingRequest? { self.progress.withLock { $0.goal } }

  /// What the run is loading; nil before it begins to.
  @usableFromInline
  var target: PageTarget<PageID>? {
    self.progress.withLock { progress in
      switch progress.goal {
      case nil: nil
      case .initialPage: .initialPage
      case .nextPage: .nextPage(self.goalID)
      case .previousPage: .previousPage(self.goalID)
      case .allPages: .allPages
      }
    }
  }

  /// Notes what the run begins to load.
  ///
  /// - Parameters:
  ///   - id: The page.
  ///   - neighborID: The page that it comes next to.
  @inlinable
  func setTarget(_ goal: PagingRequest, _ id: PageID? = nil, nextTo neighborID: PageID? = nil) {
    var (id, neighborID) = (id, neighborID)
    self.progress.withLock { progress in
      progress.goal = goal
      swap(&self.goalID, &id)
      swap(&self.goalNeighborID, &neighborID)
    }
    withExtendedLifetime((id, neighborID)) {}  // Until here, after the lock.
  }

  /// Whether the page that comes is next to one of `pages`, as far as it was when the run began to load it.
  @usableFromInline
  func bringsNeighbor(of pages: Pages<PageID, PageValue>) -> Bool {
    let neighborID = self.progress.withLock { _ in self.goalNeighborID }
    return neighborID.map { pages.isEmpty || pages.contains(id: $0) } ?? true
  }

  /// How far the refetch of all pages has come; nil before it begins. Another attempt goes on there.
  var refetch: PageRefetch<PageID, PageValue>? {
    get { self.progress.withLock { _ in self.startedRefetch } }
    set {
      var refetch = newValue
      self.progress.withLock { _ in swap(&self.startedRefetch, &refetch) }
      withExtendedLifetime(refetch) {}  // Until here, after the lock.
    }
  }

  /// Notes the pages that are there when the work begins, which are others than at the start where the run has waited.
  ///
  /// - Returns: Whether a refetch of all pages has begun before.
  @inlinable
  func begin(with pages: Pages<PageID, PageValue>) -> Bool {
    self.progress.withLock { _ in
      if self.pagesAtStart == nil { self.pagesAtStart = pages }
      return self.startedRefetch != nil
    }
  }

  /// Whether a page was there before the run, so that it was removed since if it is not there now.
  func hadPage(_ id: PageID) -> Bool {
    let pagesAtStart = self.progress.withLock { _ in self.pagesAtStart }
    return self.pagesBeforeStart.contains(id: id) || pagesAtStart?.contains(id: id) == true
  }

  @usableFromInline var hadPages: Bool {
    let pagesAtStart = self.progress.withLock { _ in self.pagesAtStart }
    return !self.pagesBeforeStart.isEmpty || pagesAtStart?.isEmpty == false
  }
}

/// How far a run has come, as far as no type of the user's is in it: a lock around one would be looked up when the run goes.
@usableFromInline
struct PagingProgress: Sendable {
  @usableFromInline var waits: Bool
  @usableFromInline var isShared = false
  @usableFromInline var goal: PagingRequest?

  @inlinable
  init(waits: Bool) {
    self.waits = waits
  }
}

/// How far a refetch of all pages has come.
@usableFromInline
final class PageRefetch<PageID: Hashable & Sendable, PageValue: Sendable>: Sendable {
  /// The pages that have been fetched.
  let pages: Pages<PageID, PageValue>
  /// The page to fetch next; nil at the end.
  let nextId: PageID?
  /// How many pages to fetch at most.
  let limit: Int

  init(pages: Pages<PageID, PageValue> = [], nextId: PageID?, limit: Int) {
    self.pages = pages
    self.nextId = nextId
    self.limit = limit
  }
}
