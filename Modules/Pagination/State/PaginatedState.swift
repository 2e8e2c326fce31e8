public import FoundationEssentials
public import OperationCore

/// The state of a ``PaginatedRequest``: its pages, and what is being loaded.
///
/// The pages stay readable while others are loaded and after that failed. They may be edited at any time, also while pages are
/// being loaded: what was written since a run began stays when the run brings what it has fetched.
public struct PaginatedState<PageID: Hashable & Sendable, PageValue: Sendable, PageFailure: Error>: Sendable {
  /// The pages of the state.
  public typealias StateValue = Pages<PageID, PageValue>

  /// What a run brings.
  public typealias OperationValue = PaginatedOperationValue<PageID, PageValue>

  /// What a run can throw.
  public typealias Failure = PageFailure

  /// A run of the operation.
  public typealias FetchTask = OperationTask<PaginatedOperationValue<PageID, PageValue>, PageFailure>

  /// The pages now.
  public internal(set) var currentValue: Pages<PageID, PageValue>

  /// The pages that the state was made with.
  public let initialValue: Pages<PageID, PageValue>

  /// How many times the pages were set or loaded.
  public internal(set) var valueUpdateCount = 0

  /// When pages were last set or loaded, by the clock of the context that did.
  public internal(set) var valueLastUpdatedAt: Date?

  /// The error that happened last, unless something was set or loaded after it.
  public internal(set) var error: PageFailure?

  /// How many times an error was set.
  public internal(set) var errorUpdateCount = 0

  /// When an error was last set, by the clock of the context that set it.
  public internal(set) var errorLastUpdatedAt: Date?

  /// The identifier of the page that is loaded when there is none.
  public let initialPageId: PageID

  /// The tasks that load the initial page, in the order in which they started.
  public internal(set) var initialPageActiveTasks: [FetchTask] = []

  /// The tasks that load the next page, in the order in which they started.
  public internal(set) var nextPageActiveTasks: [FetchTask] = []

  /// The tasks that load the previous page, in the order in which they started.
  public internal(set) var previousPageActiveTasks: [FetchTask] = []

  /// The tasks that refetch all pages, in the order in which they started.
  public internal(set) var allPagesActiveTasks: [FetchTask] = []

  let order: PageOrder<PageID, PageValue>

  /// Creates the state of a request, which says what page comes after which.
  public init<Request: PaginatedRequest>(for request: Request, initialValue: Pages<PageID, PageValue> = [])
  where Request.State == Self {
    self.init(
      initialValue: initialValue,
      initialPageId: request.initialPageId,
      order: RequestedPageOrder(request)
    )
  }

  init(initialValue: Pages<PageID, PageValue>, initialPageId: PageID, order: PageOrder<PageID, PageValue>) {
    self.currentValue = initialValue
    self.initialValue = initialValue
    self.initialPageId = initialPageId
    self.order = order
  }
}

// MARK: - What comes next

extension PaginatedState {
  /// The identifier of the page that would be loaded next: after the last page, or the initial one when there is none.
  ///
  /// It is nil where the pages end. It is computed by the request from the pages of this state, in the context that the store
  /// has when it is read.
  public var nextPageId: PageID? {
    self.currentValue.isEmpty ? self.initialPageId : self.order.nextPageId(of: self.currentValue)
  }

  /// The identifier of the page that would be loaded before the first page, or that of the initial one when there is none.
  ///
  /// It is nil where the pages begin. It is computed as ``nextPageId`` is.
  public var previousPageId: PageID? {
    self.currentValue.isEmpty ? self.initialPageId : self.order.previousPageId(of: self.currentValue)
  }

  /// Whether there is a page to load after the last one.
  public var hasNextPage: Bool { self.nextPageId != nil }

  /// Whether there is a page to load before the first one.
  public var hasPreviousPage: Bool { self.previousPageId != nil }
}

// MARK: - What is being loaded

extension PaginatedState {
  /// Whether a run is under way.
  public var isLoading: Bool {
    self.isLoadingInitialPage || self.isLoadingNextPage || self.isLoadingPreviousPage || self.isLoadingAllPages
  }

  /// Whether the page after the last one is being loaded.
  public var isLoadingNextPage: Bool { !self.nextPageActiveTasks.isEmpty }

  /// Whether the page before the first one is being loaded.
  public var isLoadingPreviousPage: Bool { !self.previousPageActiveTasks.isEmpty }

  /// Whether all pages are being refetched.
  public var isLoadingAllPages: Bool { !self.allPagesActiveTasks.isEmpty }

  /// Whether the initial page is being loaded.
  public var isLoadingInitialPage: Bool { !self.initialPageActiveTasks.isEmpty }
}
