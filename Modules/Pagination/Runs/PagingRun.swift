internal import OperationCore
internal import Synchronization

/// What belongs to one run of a paginated operation in a store, from its departure on and through all its attempts.
final class PagingRun<PageID: Hashable & Sendable, PageValue: Sendable, Failure: Error>: Sendable {
  typealias Log = PageEventLog<PageID, PageValue, Failure>

  /// A run that another one waits for.
  struct Forerunner: Sendable {
    let flight: Flight<PaginatedOperationValue<PageID, PageValue>, Failure>
    var run: PagingRun
  }

  /// How far a refetch of all pages has come.
  struct Refetch: Sendable {
    /// The pages that have been fetched.
    var pages: Pages<PageID, PageValue> = []
    /// The page to fetch next; nil at the end.
    var nextId: PageID?
    /// How many pages to fetch at most.
    var limit: Int
  }

  private struct State: Sendable {
    var forerunners: [Forerunner]
    var aim: PageAim<PageID>?
    var isShared = false
    var pagesAtStart: Pages<PageID, PageValue>?
    var refetch: Refetch?
  }

  let taskID: OperationTaskIdentifier
  let demand: PageDemand
  /// What the demand came to at the departure.
  let request: PagingRequest
  /// The beginning of the run: what others write from then on stays.
  let revision: Revision
  /// The pages at the departure.
  let pagesAtDeparture: Pages<PageID, PageValue>
  let log = Log()
  private let state: Mutex<State>

  /// Notes the departure of a run.
  ///
  /// - Parameter forerunners: Runs to wait for.
  init(
    taskID: OperationTaskIdentifier,
    demand: PageDemand,
    request: PagingRequest,
    pages: Pages<PageID, PageValue>,
    forerunners: [Forerunner]
  ) {
    self.taskID = taskID
    self.demand = demand
    self.request = request
    self.revision = .runBeginning()
    self.pagesAtDeparture = pages
    self.state = Mutex(State(forerunners: forerunners))
  }

  deinit {
    // One by one, as a long chain of runs that wait for each other would not fit on the stack.
    var pending = self.takeForerunners()
    while var forerunner = pending.popLast() {
      if isKnownUniquelyReferenced(&forerunner.run) { pending += forerunner.run.takeForerunners() }
    }
  }

  /// The runs that this one waits for; none once it has.
  var forerunners: [Forerunner] { self.state.withLock { $0.forerunners } }

  private func takeForerunners() -> [Forerunner] {
    self.state.withLock { state in
      defer { state.forerunners = [] }
      return state.forerunners
    }
  }

  /// Waits for the runs before this one, and returns the initial page that one of them has loaded.
  ///
  /// Returns early, with nil, when the task is cancelled.
  func awaitForerunners() async -> Page<PageID, PageValue>? {
    var pending = self.forerunners
    guard !pending.isEmpty else { return nil }
    var initialPage: Page<PageID, PageValue>?
    while let forerunner = pending.popLast() {
      await forerunner.flight.settled()
      if Task.isCancelled { return nil }
      if case .success(.initialPage(let page)) = forerunner.flight.finishedOutcome { initialPage = page }
      // Those that it has not waited for itself, as it was cancelled.
      pending += forerunner.run.forerunners
    }
    _ = self.takeForerunners()
    return initialPage
  }

  /// Whether what the run returns was loaded, and has landed, by another.
  var isShared: Bool {
    get { self.state.withLock { $0.isShared } }
    set { self.state.withLock { $0.isShared = newValue } }
  }

  /// What the run is loading; nil before it begins to.
  var aim: PageAim<PageID>? {
    get { self.state.withLock { $0.aim } }
    set { self.state.withLock { $0.aim = newValue } }
  }

  /// How far the refetch of all pages has come; nil before it begins. Another attempt goes on there.
  var refetch: Refetch? {
    get { self.state.withLock { $0.refetch } }
    set { self.state.withLock { $0.refetch = newValue } }
  }

  /// Notes the pages that are there when the work begins, which are others than at the departure where the run has waited.
  func begin(with pages: Pages<PageID, PageValue>) {
    self.state.withLock { if $0.pagesAtStart == nil { $0.pagesAtStart = pages } }
  }

  /// Whether a page was there before the run, so that it was removed since if it is not there now.
  func hadPage(_ id: PageID) -> Bool {
    let pagesAtStart = self.state.withLock { $0.pagesAtStart }
    return self.pagesAtDeparture.contains(id: id) || pagesAtStart?.contains(id: id) == true
  }

  var hadPages: Bool {
    let pagesAtStart = self.state.withLock { $0.pagesAtStart }
    return !self.pagesAtDeparture.isEmpty || pagesAtStart?.isEmpty == false
  }
}
