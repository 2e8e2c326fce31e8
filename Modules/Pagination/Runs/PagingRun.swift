public import OperationCore
public import Synchronization

/// The state of one run of a paginated operation in a store, from its start through all its attempts.
@usableFromInline
final class PagingRun<PageID: Hashable & Sendable, PageValue: Sendable, Failure: Error>: Sendable {
  @usableFromInline typealias Log = PageEventLog<PageID, PageValue, Failure>

  /// A run that this one waits for.
  @usableFromInline
  struct Predecessor: Sendable {
    @usableFromInline let sharedRun: SharedRun
    @usableFromInline var run: PagingRun
    /// The last invalidation of any store when this run began to wait.
    let epoch = InvalidationEpoch.latest
  }

  /// The state that the lock guards.
  @usableFromInline
  struct State: Sendable {
    /// The runs to wait for. Empty when the run has waited for them.
    @usableFromInline var predecessors: [Predecessor]
    /// Whether the run returns a page that another run has loaded and has put into the store's state already.
    @usableFromInline var isShared = false
    /// The request that the run works on. Nil before it begins to load.
    @usableFromInline var targetRequest: PagingRequest?
    /// The pages when the work began. Nil before that.
    @usableFromInline var pagesAtStart: Pages<PageID, PageValue>?
    /// The progress of the refetch of all pages. Nil before it begins.
    @usableFromInline var refetch: PageRefetch<PageID, PageValue>?
    /// Whether the last part of the refetch has left pages for another one.
    @usableFromInline var leavesPages = false
    /// The page that the run loads, if it is the next or the previous one.
    @usableFromInline var targetID: PageID?
    /// The page that `targetID` comes next to.
    @usableFromInline var targetNeighbourID: PageID?

    @inlinable
    init(predecessors: [Predecessor]) {
      self.predecessors = predecessors
    }
  }

  @usableFromInline let taskID: OperationTaskIdentifier
  @usableFromInline let requestKind: PageRequestKind
  /// The request that `requestKind` resolved to when the run started.
  @usableFromInline let request: PagingRequest
  /// Which pages the run fetches again, if not all of them.
  @usableFromInline let selection: PageSelection?
  /// The last invalidation of the store when the run started. A page of a run from before it is no page for this run.
  @usableFromInline let invalidation: Int
  /// The start of the run. Pages that others write later are newer than those that the run loads.
  @usableFromInline let revision: Revision
  /// The pages when the run started, before it waited for other runs.
  @usableFromInline let pagesBeforeStart: Pages<PageID, PageValue>
  @usableFromInline let log: Log
  /// Whether there were runs to wait for at the start. `deinit`, which is not specialized, would look up types for
  /// that.
  @usableFromInline let hadPredecessors: Bool

  @usableFromInline let lock = Mutex(())
  // Unsafe because the compiler does not see that `withState` holds the lock. The state lies next to the lock, not in
  // it: releasing a `Mutex` of a generic type looks up the metadata of its types. The lock makes the accesses
  // exclusive, too: see `PageEventLog` for the figure.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) var state: State

  /// Creates the state of a run that starts now.
  ///
  /// - Parameters:
  ///   - taskID: The identifier of the task of the run.
  ///   - requestKind: The kind of request that the caller makes.
  ///   - request: The request that `requestKind` resolves to now.
  ///   - selection: Which pages it fetches again; nil for all of them.
  ///   - pages: The pages of the store now.
  ///   - invalidation: The last invalidation of the store.
  ///   - predecessors: The runs to wait for.
  ///   - eventOrder: The order of the store's events, in which the page events are delivered.
  @inlinable
  init(
    taskID: OperationTaskIdentifier,
    requestKind: PageRequestKind,
    request: PagingRequest,
    selection: PageSelection?,
    pages: Pages<PageID, PageValue>,
    invalidation: Int,
    predecessors: [Predecessor],
    eventOrder: StoreEventOrder
  ) {
    self.taskID = taskID
    self.log = Log(order: eventOrder)
    self.requestKind = requestKind
    self.request = request
    self.selection = selection
    self.invalidation = invalidation
    self.revision = .now()
    self.pagesBeforeStart = pages
    self.hadPredecessors = !predecessors.isEmpty
    self.state = State(predecessors: predecessors)
  }

  deinit {
    if self.hadPredecessors { self.releasePredecessors() }
  }

  /// Runs `body`, which must not call user code or release user values, with the lock held.
  @inlinable
  @inline(__always)
  func withState<R: Sendable>(_ body: (inout State) -> R) -> R {
    self.lock.withLock { _ in body(&self.state) }
  }
}

// MARK: - Predecessors

extension PagingRun {
  /// Whether there are runs to wait for.
  @inlinable
  var waits: Bool { self.withState { !$0.predecessors.isEmpty } }

  /// The runs that this one waits for. Empty when it has waited for them.
  @inlinable
  var predecessors: [Predecessor] { self.withState { $0.predecessors } }

  private func takePredecessors() -> [Predecessor] {
    self.withState { state in
      defer { state.predecessors = [] }
      return state.predecessors
    }
  }

  /// Releases the predecessors in a loop: a long chain of runs that retain each other would overflow the stack.
  private func releasePredecessors() {
    var pending = self.takePredecessors()
    while var predecessor = pending.popLast() {
      if isKnownUniquelyReferenced(&predecessor.run) { pending += predecessor.run.takePredecessors() }
    }
  }

  /// Waits for the runs before this one, and returns the initial page that one of them has loaded, unless the store was
  /// invalidated in between, or the page had missed an invalidation, which may have come in between.
  ///
  /// It waits only for runs that exclude this one. The predecessors of a run that it does not wait for, or that was
  /// cancelled before it had waited for them, count as its own.
  ///
  /// Returns nil early when the task is cancelled.
  ///
  /// - Throws: An `OperationCycleError` if the work of a run to wait for has called this one. Where the failure cannot be that
  ///   error, this run does not wait for that one.
  @usableFromInline
  func awaitPredecessors(in context: OperationContext) async throws(Failure) -> Page<PageID, PageValue>? {
    var pending = self.predecessors
    let epoch = pending.first?.epoch ?? .zero
    var initialPage: Page<PageID, PageValue>?
    var visited: Set<OperationTaskIdentifier> = []
    while let predecessor = pending.popLast() {
      guard visited.insert(predecessor.run.taskID).inserted else { continue }
      if !self.request.waits(for: predecessor.run.request) {
        pending += predecessor.run.predecessors
        continue
      }
      if EnclosingRun.notesWaits, try self.closesCycle(awaiting: predecessor) {
        pending += predecessor.run.predecessors
        continue
      }
      await predecessor.sharedRun.settled()
      if Task.isCancelled { return nil }
      let outcome = predecessor.sharedRun.finishedOutcome?.result(
        PaginatedOperationValue<PageID, PageValue>.self,
        Failure.self
      )
      if case .success(.initialPage(let page)) = outcome, predecessor.run.invalidation >= self.invalidation,
        !context.hasMissedInvalidation(since: epoch)
      {
        initialPage = page
      }
      // Not empty when the predecessor was cancelled while it waited.
      pending += predecessor.run.predecessors
    }
    _ = self.takePredecessors()
    return initialPage
  }

  /// Whether a run to wait for waits for this one, which is reported. The waits of both were noted before.
  ///
  /// - Throws: The cycle, if the failure can be one.
  @inline(never)
  private func closesCycle(awaiting predecessor: Predecessor) throws(Failure) -> Bool {
    guard let names = WaitGraph.findCycle(awaiting: predecessor.sharedRun) else { return false }
    let cycle = OperationCycleError(operationNames: names)
    cycle.report()
    if let failure = cycle as? Failure { throw failure }
    return true
  }
}

extension PagingRun: RunAttachment {
  /// Whether the run may refetch all pages.
  @usableFromInline package var mayHaveParts: Bool { self.requestKind != .next && self.requestKind != .previous }

  @usableFromInline
  package func takesAnotherPart() -> Bool {
    self.withState { state in
      defer { state.leavesPages = false }
      return state.leavesPages
    }
  }

  @usableFromInline package var awaitedRuns: [WaitEdge] {
    self.predecessors.map { WaitEdge($0.sharedRun, isCall: false) }
  }
}

// MARK: - Progress

extension PagingRun {
  /// Whether the run returns a page that another run has loaded and has put into the store's state already.
  @inlinable
  var isShared: Bool {
    get { self.withState { $0.isShared } }
    set { self.withState { $0.isShared = newValue } }
  }

  /// The request that the run works on. Nil before it begins to load.
  @inlinable
  var targetRequest: PagingRequest? { self.withState { $0.targetRequest } }

  /// What the run loads. Nil before it begins to load.
  @usableFromInline
  var target: PageTarget<PageID>? {
    self.withState { state in
      switch state.targetRequest {
      case nil: nil
      case .initialPage: .initialPage
      case .nextPage: .nextPage(state.targetID)
      case .previousPage: .previousPage(state.targetID)
      case .allPages: self.selection.map { .selectedPages($0) } ?? .allPages
      }
    }
  }

  /// Records what the run begins to load.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - id: The page to load, if it is the next or the previous one.
  ///   - neighbourID: The page that it comes next to.
  @inlinable
  func setTarget(_ request: PagingRequest, _ id: PageID? = nil, nextTo neighbourID: PageID? = nil) {
    var (id, neighbourID) = (id, neighbourID)
    self.withState { state in
      state.targetRequest = request
      swap(&state.targetID, &id)
      swap(&state.targetNeighbourID, &neighbourID)
    }
    withExtendedLifetime((id, neighbourID)) {}  // Released after unlocking.
  }

  /// Whether the loaded page has its place in `pages`: they are empty, or contain the page that it was to come next to.
  @usableFromInline
  func hasTargetNeighbour(in pages: Pages<PageID, PageValue>) -> Bool {
    let neighbourID = self.withState { $0.targetNeighbourID }
    return neighbourID.map { pages.isEmpty || pages.contains(id: $0) } ?? true
  }

  /// The progress of the refetch of all pages, from which another attempt goes on. Nil before it begins.
  var refetch: PageRefetch<PageID, PageValue>? { self.withState { $0.refetch } }

  /// Records the progress of the refetch, unless another attempt has made progress meanwhile.
  ///
  /// - Parameters:
  ///   - start: The progress at the start of the attempt.
  ///   - refetch: The progress now.
  ///   - leavesPages: Whether the refetch goes on in another part of the run.
  func advance(
    from start: PageRefetch<PageID, PageValue>?,
    to refetch: PageRefetch<PageID, PageValue>,
    leavesPages: Bool
  ) {
    var released: PageRefetch<PageID, PageValue>?
    self.withState { state in
      guard state.refetch === start else { return }
      released = state.refetch
      state.refetch = refetch
      state.leavesPages = leavesPages
    }
    withExtendedLifetime(released) {}  // Released after unlocking.
  }

  /// Records the pages when the work begins. They differ from those at the start when the run has waited.
  ///
  /// - Returns: Whether an earlier attempt has begun a refetch of all pages.
  @inlinable
  func begin(with pages: Pages<PageID, PageValue>) -> Bool {
    self.withState { state in
      if state.pagesAtStart == nil { state.pagesAtStart = pages }
      return state.refetch != nil
    }
  }

  /// Whether the page existed before the run. If it does not exist now, it was removed during the run.
  func hadPage(_ id: PageID) -> Bool {
    let pagesAtStart = self.withState { $0.pagesAtStart }
    return self.pagesBeforeStart.contains(id: id) || pagesAtStart?.contains(id: id) == true
  }

  /// Whether any page existed before the run.
  @usableFromInline var hadPages: Bool {
    let pagesAtStart = self.withState { $0.pagesAtStart }
    return !self.pagesBeforeStart.isEmpty || pagesAtStart?.isEmpty == false
  }
}

/// The progress of a refetch of all pages.
@usableFromInline
final class PageRefetch<PageID: Hashable & Sendable, PageValue: Sendable>: Sendable {
  /// The pages that have been fetched.
  let pages: Pages<PageID, PageValue>
  /// The page to fetch next. Nil at the end.
  let nextId: PageID?
  /// The pages after that one, if the caller has chosen them. Nil if each page says which one follows.
  let chosenIds: ArraySlice<PageID>?
  /// The maximum number of pages to fetch.
  let limit: Int

  init(pages: Pages<PageID, PageValue> = [], nextId: PageID?, chosenIds: ArraySlice<PageID>? = nil, limit: Int) {
    self.pages = pages
    self.nextId = nextId
    self.chosenIds = chosenIds
    self.limit = limit
  }

  /// The beginning of a refetch.
  ///
  /// - Parameters:
  ///   - present: The pages that are there.
  ///   - selection: Which of them to fetch; nil for all.
  ///   - maximum: The maximum number of pages.
  convenience init(of present: Pages<PageID, PageValue>, _ selection: PageSelection?, maximum: Int) {
    guard let ids = selection?.ids(in: present) else {
      self.init(nextId: present.first?.id, limit: min(present.count, maximum))
      return
    }
    self.init(nextId: ids.first, chosenIds: ids.dropFirst(), limit: min(ids.count, maximum))
  }
}
