public import OperationCore
public import OperationFoundation

/// The state of a ``PaginatedRequest``: its pages and the runs that load pages.
///
/// The pages stay readable while others are loaded, and after a load has failed. They may be edited at any time, also
/// during a run: pages that were written after the run began are kept when the run has fetched older values of them.
public struct PaginatedState<PageID: Hashable & Sendable, PageValue: Sendable, PageFailure: Error>: Sendable {
  /// The pages of the state.
  public typealias StateValue = Pages<PageID, PageValue>

  /// The value that a run produces.
  public typealias OperationValue = PaginatedOperationValue<PageID, PageValue>

  /// The error that a run can throw.
  public typealias Failure = PageFailure

  /// A run of the operation.
  public typealias FetchTask = OperationTask<PaginatedOperationValue<PageID, PageValue>, PageFailure>

  /// The copy-on-write storage of a state: a state is passed along with each event and each run.
  @usableFromInline
  final class Storage: @unchecked Sendable {
    // Unchecked because it is changed only while it is uniquely referenced, which also makes the accesses exclusive:
    // checked, together with those to the run and its store they take 5,300 of the 37,900 instructions of a page.
    @exclusivity(unchecked) @usableFromInline var content: Content

    @inlinable
    init(_ content: Content) {
      self.content = content
    }
  }

  /// The stored properties of a state.
  @usableFromInline
  struct Content: Sendable {
    @usableFromInline let steps: PaginatedSteps<PageID, PageValue, PageFailure>
    @usableFromInline var currentValue: Pages<PageID, PageValue>
    @usableFromInline let initialValue: Pages<PageID, PageValue>
    /// The pages without optimistic updates. Nil when no such update is shown.
    @usableFromInline var pagesBelow: Pages<PageID, PageValue>?
    @usableFromInline var valueUpdateCount = 0
    @usableFromInline var errorUpdateCount = 0
    @usableFromInline var initialPageActiveTasks: [FetchTask] = []
    @usableFromInline var nextPageActiveTasks: [FetchTask] = []
    @usableFromInline var previousPageActiveTasks: [FetchTask] = []
    @usableFromInline var allPagesActiveTasks: [FetchTask] = []
    @usableFromInline let order: PageOrder<PageID, PageValue>
    @usableFromInline var valueLastUpdatedAt: Date?
    /// The stamps of the pages that no run has returned and no user has set: those that were yielded, and fallbacks.
    @usableFromInline var stamps: [PageID: ValueStamp] = [:]
    @usableFromInline var errorLastUpdatedAt: Date?

    // Last, as their size depends on the user's types: so the offsets of the fields before them are known.

    @usableFromInline let initialPageId: PageID
    @usableFromInline var error: PageFailure?

    @inlinable
    init(
      initialValue: Pages<PageID, PageValue>,
      initialPageId: PageID,
      order: PageOrder<PageID, PageValue>,
      steps: PaginatedSteps<PageID, PageValue, PageFailure>
    ) {
      self.steps = steps
      self.currentValue = initialValue
      self.initialValue = initialValue
      self.initialPageId = initialPageId
      self.order = order
    }
  }

  @usableFromInline var storage: Storage

  /// Returns the storage for a change, copied if another state refers to it.
  @inlinable
  mutating func uniqueStorage() -> Storage {
    if !isKnownUniquelyReferenced(&self.storage) { self.storage = Storage(self.storage.content) }
    return self.storage
  }

  /// Creates the state of a request.
  @inlinable
  public init<Request: PaginatedRequest>(for request: Request, initialValue: Pages<PageID, PageValue> = [])
  where Request.State == Self {
    self.init(
      initialValue: initialValue,
      initialPageId: request.initialPageId,
      order: PageOrder(request),
      steps: PaginatedSteps()
    )
  }

  @inlinable
  init(
    initialValue: Pages<PageID, PageValue>,
    initialPageId: PageID,
    order: PageOrder<PageID, PageValue>,
    steps: PaginatedSteps<PageID, PageValue, PageFailure>
  ) {
    let content = Content(initialValue: initialValue, initialPageId: initialPageId, order: order, steps: steps)
    self.storage = Storage(content)
  }
}

// MARK: - Values

extension PaginatedState {
  /// The current pages.
  @inlinable
  public internal(set) var currentValue: Pages<PageID, PageValue> {
    get { self.storage.content.currentValue }
    set { self.uniqueStorage().content.currentValue = newValue }
  }

  /// The pages that the state was created with.
  public var initialValue: Pages<PageID, PageValue> { self.storage.content.initialValue }

  /// The number of times that pages were set or loaded.
  public var valueUpdateCount: Int { self.storage.content.valueUpdateCount }

  /// The date at which pages were last set or loaded, by the clock of the context of that change.
  public var valueLastUpdatedAt: Date? { self.storage.content.valueLastUpdatedAt }

  /// The date at which the oldest page was last set or loaded. The list is as old as that page.
  ///
  /// Nil if a page was neither set nor loaded, such as an initial one.
  ///
  /// - Complexity: O(n), where n is the number of pages.
  public var oldestPartUpdatedAt: Date? {
    guard self.valueUpdateCount > 0 else { return nil }
    let pages = self.currentValue
    return pages.isEmpty ? self.valueLastUpdatedAt : pages.oldestDate(initialPages: self.initialValue)
  }

  /// The last error. Nil if pages were set or loaded after it.
  @inlinable
  public internal(set) var error: PageFailure? {
    get { self.storage.content.error }
    set { self.uniqueStorage().content.error = newValue }
  }

  /// The number of times that an error was set.
  public var errorUpdateCount: Int { self.storage.content.errorUpdateCount }

  /// The date at which an error was last set, by the clock of the context of that change.
  public var errorLastUpdatedAt: Date? { self.storage.content.errorLastUpdatedAt }

  /// The identifier of the page that is loaded when there are no pages.
  @inlinable
  public var initialPageId: PageID { self.storage.content.initialPageId }

  /// The tasks that load the initial page, in the order in which they started.
  public var initialPageActiveTasks: [FetchTask] { self.storage.content.initialPageActiveTasks }

  /// The tasks that load the next page, in the order in which they started.
  public var nextPageActiveTasks: [FetchTask] { self.storage.content.nextPageActiveTasks }

  /// The tasks that load the previous page, in the order in which they started.
  public var previousPageActiveTasks: [FetchTask] { self.storage.content.previousPageActiveTasks }

  /// The tasks that refetch all pages, in the order in which they started.
  public var allPagesActiveTasks: [FetchTask] { self.storage.content.allPagesActiveTasks }

  /// The order of the request's pages.
  @inlinable
  var order: PageOrder<PageID, PageValue> { self.storage.content.order }
}

// MARK: - Next and previous page

extension PaginatedState {
  /// The identifier of the page after the last one, or of the initial page if there are no pages.
  ///
  /// Nil if no page comes after the last one. The request computes it whenever it is read, from the pages of this state
  /// without optimistic updates and in the current context of the store.
  @inlinable
  public var nextPageId: PageID? {
    let pages = self.loadedPages
    return pages.isEmpty ? self.initialPageId : self.order.nextPageId(of: pages)
  }

  /// The identifier of the page before the first one, or of the initial page if there are no pages.
  ///
  /// Nil if no page comes before the first one. It is computed like ``nextPageId``.
  @inlinable
  public var previousPageId: PageID? {
    let pages = self.loadedPages
    return pages.isEmpty ? self.initialPageId : self.order.previousPageId(of: pages)
  }

  /// The pages without optimistic updates, next to which further pages are loaded.
  @inlinable
  var loadedPages: Pages<PageID, PageValue> { self.storage.content.pagesBelow ?? self.currentValue }

  /// Whether a page can be loaded after the last one.
  public var hasNextPage: Bool { self.nextPageId != nil }

  /// Whether a page can be loaded before the first one.
  public var hasPreviousPage: Bool { self.previousPageId != nil }
}

// MARK: - Loading

extension PaginatedState {
  /// Whether a run is under way.
  @inlinable
  public var isLoading: Bool {
    self.isLoadingInitialPage || self.isLoadingNextPage || self.isLoadingPreviousPage || self.isLoadingAllPages
  }

  /// Whether a run is paused.
  ///
  /// - Complexity: O(*n*) in the number of running tasks.
  public var isPaused: Bool { self.activeTasks.contains { $0.isPaused } }

  /// The attempt of the newest running task that has one.
  ///
  /// - Complexity: O(*n* log *n*) in the number of running tasks.
  public var attempt: OperationAttempt? { self.activeTasks.sorted { $0.id < $1.id }.newestAttempt() }

  /// Whether the page after the last one is being loaded.
  @inlinable
  public var isLoadingNextPage: Bool { !self.nextPageActiveTasks.isEmpty }

  /// Whether the page before the first one is being loaded.
  @inlinable
  public var isLoadingPreviousPage: Bool { !self.previousPageActiveTasks.isEmpty }

  /// Whether all pages are being refetched.
  @inlinable
  public var isLoadingAllPages: Bool { !self.allPagesActiveTasks.isEmpty }

  /// Whether the initial page is being loaded.
  @inlinable
  public var isLoadingInitialPage: Bool { !self.initialPageActiveTasks.isEmpty }
}
