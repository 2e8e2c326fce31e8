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

  /// What a state keeps. It is changed in place while one state refers to it, and copied otherwise: a state travels with
  /// each event and each run, mostly unchanged.
  @usableFromInline
  final class Storage: @unchecked Sendable {
    // Unchecked because it is only changed while nobody else refers to it, which also makes the accesses exclusive.
    @exclusivity(unchecked) @usableFromInline var currentValue: Pages<PageID, PageValue>
    @usableFromInline let initialValue: Pages<PageID, PageValue>
    /// The pages over which the ones now are laid for a while; nil where they are not.
    @exclusivity(unchecked) @usableFromInline var pagesBeneath: Pages<PageID, PageValue>?
    @exclusivity(unchecked) @usableFromInline var valueUpdateCount = 0
    @exclusivity(unchecked) @usableFromInline var errorUpdateCount = 0
    @exclusivity(unchecked) @usableFromInline var initialPageActiveTasks: [FetchTask] = []
    @exclusivity(unchecked) @usableFromInline var nextPageActiveTasks: [FetchTask] = []
    @exclusivity(unchecked) @usableFromInline var previousPageActiveTasks: [FetchTask] = []
    @exclusivity(unchecked) @usableFromInline var allPagesActiveTasks: [FetchTask] = []
    @usableFromInline let order: PageOrder<PageID, PageValue>
    @exclusivity(unchecked) @usableFromInline var valueLastUpdatedAt: Date?
    @exclusivity(unchecked) @usableFromInline var errorLastUpdatedAt: Date?

    // What takes as much room as the user's types do comes last: the fields before are then at places that are known.

    @usableFromInline let initialPageId: PageID
    @exclusivity(unchecked) @usableFromInline var error: PageFailure?

    @inlinable
    init(initialValue: Pages<PageID, PageValue>, initialPageId: PageID, order: PageOrder<PageID, PageValue>) {
      self.currentValue = initialValue
      self.initialValue = initialValue
      self.initialPageId = initialPageId
      self.order = order
    }

    @inlinable
    init(copying other: Storage) {
      self.currentValue = other.currentValue
      self.initialValue = other.initialValue
      self.pagesBeneath = other.pagesBeneath
      self.valueUpdateCount = other.valueUpdateCount
      self.errorUpdateCount = other.errorUpdateCount
      self.initialPageActiveTasks = other.initialPageActiveTasks
      self.nextPageActiveTasks = other.nextPageActiveTasks
      self.previousPageActiveTasks = other.previousPageActiveTasks
      self.allPagesActiveTasks = other.allPagesActiveTasks
      self.order = other.order
      self.valueLastUpdatedAt = other.valueLastUpdatedAt
      self.errorLastUpdatedAt = other.errorLastUpdatedAt
      self.initialPageId = other.initialPageId
      self.error = other.error
    }
  }

  @usableFromInline var storage: Storage

  /// The storage, for a change.
  @inlinable
  mutating func uniqueStorage() -> Storage {
    if !isKnownUniquelyReferenced(&self.storage) { self.storage = Storage(copying: self.storage) }
    return self.storage
  }

  /// Creates the state of a request, which says what page comes after which.
  @inlinable
  public init<Request: PaginatedRequest>(for request: Request, initialValue: Pages<PageID, PageValue> = [])
  where Request.State == Self {
    self.init(
      initialValue: initialValue,
      initialPageId: request.initialPageId,
      order: PageOrder(request)
    )
  }

  @inlinable
  init(initialValue: Pages<PageID, PageValue>, initialPageId: PageID, order: PageOrder<PageID, PageValue>) {
    self.storage = Storage(initialValue: initialValue, initialPageId: initialPageId, order: order)
  }
}

// MARK: - What it holds

extension PaginatedState {
  /// The pages now.
  @inlinable
  public internal(set) var currentValue: Pages<PageID, PageValue> {
    get { self.storage.currentValue }
    set { self.uniqueStorage().currentValue = newValue }
  }

  /// The pages that the state was made with.
  @inlinable
  public var initialValue: Pages<PageID, PageValue> { self.storage.initialValue }

  /// How many times the pages were set or loaded.
  @inlinable
  public var valueUpdateCount: Int { self.storage.valueUpdateCount }

  /// When pages were last set or loaded, by the clock of the context that did.
  @inlinable
  public var valueLastUpdatedAt: Date? { self.storage.valueLastUpdatedAt }

  /// When the oldest of the pages was last set or loaded, from which the list ages; nil where one was neither.
  ///
  /// - Complexity: O(n), where n is the number of pages.
  public var oldestPartUpdatedAt: Date? {
    guard self.valueUpdateCount > 0 else { return nil }
    let pages = self.currentValue
    return pages.isEmpty ? self.valueLastUpdatedAt : pages.oldestDate(initialPages: self.initialValue)
  }

  /// The error that happened last, unless something was set or loaded after it.
  @inlinable
  public internal(set) var error: PageFailure? {
    get { self.storage.error }
    set { self.uniqueStorage().error = newValue }
  }

  /// How many times an error was set.
  @inlinable
  public var errorUpdateCount: Int { self.storage.errorUpdateCount }

  /// When an error was last set, by the clock of the context that set it.
  @inlinable
  public var errorLastUpdatedAt: Date? { self.storage.errorLastUpdatedAt }

  /// The identifier of the page that is loaded when there is none.
  @inlinable
  public var initialPageId: PageID { self.storage.initialPageId }

  /// The tasks that load the initial page, in the order in which they started.
  @inlinable
  public var initialPageActiveTasks: [FetchTask] { self.storage.initialPageActiveTasks }

  /// The tasks that load the next page, in the order in which they started.
  @inlinable
  public var nextPageActiveTasks: [FetchTask] { self.storage.nextPageActiveTasks }

  /// The tasks that load the previous page, in the order in which they started.
  @inlinable
  public var previousPageActiveTasks: [FetchTask] { self.storage.previousPageActiveTasks }

  /// The tasks that refetch all pages, in the order in which they started.
  @inlinable
  public var allPagesActiveTasks: [FetchTask] { self.storage.allPagesActiveTasks }

  /// What the state knows of its request.
  @inlinable
  var order: PageOrder<PageID, PageValue> { self.storage.order }
}

// MARK: - What comes next

extension PaginatedState {
  /// The identifier of the page that would be loaded next: after the last page, or the initial one when there is none.
  ///
  /// It is nil where the pages end. It is computed by the request from the pages of this state, without those that an
  /// optimistic update shows, in the context that the store has when it is read.
  @inlinable
  public var nextPageId: PageID? {
    let pages = self.loadedPages
    return pages.isEmpty ? self.initialPageId : self.order.nextPageId(of: pages)
  }

  /// The identifier of the page that would be loaded before the first page, or that of the initial one when there is none.
  ///
  /// It is nil where the pages begin. It is computed as ``nextPageId`` is.
  @inlinable
  public var previousPageId: PageID? {
    let pages = self.loadedPages
    return pages.isEmpty ? self.initialPageId : self.order.previousPageId(of: pages)
  }

  /// The pages next to which others are loaded.
  @inlinable
  var loadedPages: Pages<PageID, PageValue> { self.storage.pagesBeneath ?? self.currentValue }

  /// Whether there is a page to load after the last one.
  @inlinable
  public var hasNextPage: Bool { self.nextPageId != nil }

  /// Whether there is a page to load before the first one.
  @inlinable
  public var hasPreviousPage: Bool { self.previousPageId != nil }
}

// MARK: - What is being loaded

extension PaginatedState {
  /// Whether a run is under way.
  @inlinable
  public var isLoading: Bool {
    self.isLoadingInitialPage || self.isLoadingNextPage || self.isLoadingPreviousPage || self.isLoadingAllPages
  }

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
