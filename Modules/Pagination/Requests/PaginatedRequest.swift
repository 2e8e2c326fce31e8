public import OperationCore

/// An operation that loads a list page by page, in one direction or in both.
///
/// ```swift
/// struct FeedQuery: PaginatedRequest, Hashable {
///   let initialPageId = 0
///
///   func pageId(
///     after page: Page<Int, [Post]>,
///     using paging: Paging<Int, [Post]>,
///     in context: OperationContext
///   ) -> Int? {
///     page.value.isEmpty ? nil : page.id + 1
///   }
///
///   func fetchPage(
///     isolation: isolated (any Actor)?,
///     using paging: Paging<Int, [Post]>,
///     in context: OperationContext,
///     with continuation: OperationContinuation<[Post], any Error>
///   ) async throws -> [Post] {
///     try await server.posts(page: paging.pageId)
///   }
/// }
/// ```
///
/// Its store loads pages with ``OperationCore/OperationStore/fetchNextPage(using:handler:)`` and similar methods. A
/// plain run, such as one that a subscription starts, refetches all pages, or loads the initial page if there are none.
public protocol PaginatedRequest<PageID, PageValue, PageFailure>: StatefulOperationRequest
where
  State == PaginatedState<PageID, PageValue, PageFailure>,
  Value == PaginatedOperationValue<PageID, PageValue>,
  Failure == PageFailure
{
  /// The identifier of a page.
  ///
  /// Stores compare and hash it with their locks held, so its `==` and `hash(into:)` must not use a store.
  associatedtype PageID: Hashable & Sendable

  /// The value of a page.
  associatedtype PageValue: Sendable

  /// The error that the fetch of a page can throw.
  associatedtype PageFailure: Error

  /// The state that a store keeps for this request.
  associatedtype State = PaginatedState<PageID, PageValue, PageFailure>

  /// The value that a run produces.
  associatedtype Value = PaginatedOperationValue<PageID, PageValue>

  /// The error that a run can throw.
  associatedtype Failure = PageFailure

  /// The identifier of the page that is loaded when there are no pages.
  var initialPageId: PageID { get }

  /// Returns the identifier of the page that comes after `page`, or nil if that is the last one.
  ///
  /// Called whenever the identifier is needed, on any thread, so compute it from the arguments. The identifier of a
  /// page that has been loaded already counts as nil.
  func pageId(
    after page: Page<PageID, PageValue>,
    using paging: Paging<PageID, PageValue>,
    in context: OperationContext
  ) -> PageID?

  /// Returns the identifier of the page that comes before `page`, or nil, the default, if that is the first one.
  ///
  /// See ``pageId(after:using:in:)``.
  func pageId(
    before page: Page<PageID, PageValue>,
    using paging: Paging<PageID, PageValue>,
    in context: OperationContext
  ) -> PageID?

  /// Fetches one page.
  ///
  /// - Parameters:
  ///   - isolation: The actor to run on. Nil to run on no actor.
  ///   - paging: The page to fetch, and the request that it belongs to.
  ///   - context: The configuration and dependencies of this run.
  ///   - continuation: Yields values of the page before the returned one, such as a cached value.
  /// - Returns: The final value of the page.
  /// - Throws: The failure of the fetch.
  func fetchPage(
    isolation: isolated (any Actor)?,
    using paging: Paging<PageID, PageValue>,
    in context: OperationContext,
    with continuation: OperationContinuation<PageValue, PageFailure>
  ) async throws(PageFailure) -> PageValue
}

/// The pages of a paginated operation.
public typealias PagesFor<Request: PaginatedRequest> = Pages<Request.PageID, Request.PageValue>

extension PaginatedRequest {
  /// Returns nil: by default no page comes before the first one.
  @inlinable
  public func pageId(
    before page: Page<PageID, PageValue>,
    using paging: Paging<PageID, PageValue>,
    in context: OperationContext
  ) -> PageID? {
    nil
  }

  /// Loads one page or all pages, as the context of the run requests.
  @inlinable
  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<PaginatedOperationValue<PageID, PageValue>, PageFailure>
  ) async throws(PageFailure) -> PaginatedOperationValue<PageID, PageValue> {
    try await PageLoad(request: self, context: context, continuation: continuation).perform()
  }

  /// Returns the name of the operation and what the run loads: `Post.Feed: next page`.
  public func taskName(in context: OperationContext) -> String {
    let run: PagingRun<PageID, PageValue, PageFailure>? = context.pagingRun()
    let request = run?.request ?? context[PageRequestKind.Key.self].map { $0.request(hasPages: true) }
    let work =
      switch request {
      case .initialPage: "initial page"
      case .nextPage: "next page"
      case .previousPage: "previous page"
      case .allPages: run?.selection == nil ? "all pages" : "chosen pages"
      case nil: "pages"
      }
    return "\(self.operationName): \(work)"
  }

  /// Returns whether both runs load the same page, or both load all pages.
  @inlinable
  public func isSameRun(in context: OperationContext, as other: OperationContext) -> Bool {
    let target = PageTarget(of: self, in: context, pagesOf: other)
    guard target == PageTarget(of: self, in: other, pagesOf: other) else { return false }
    return target != .allPages || !self.areParts(context, other)
  }

  /// Whether both contexts are of runs that refetch all pages page by page: such a run returns one page of several.
  @usableFromInline
  func areParts(_ context: OperationContext, _ other: OperationContext) -> Bool {
    let run: PagingRun<PageID, PageValue, PageFailure>? = context.pagingRun()
    let otherRun: PagingRun<PageID, PageValue, PageFailure>? = other.pagingRun()
    return run != nil && otherRun != nil && !context.operationRefetchesPagesInOneRun
  }
}
