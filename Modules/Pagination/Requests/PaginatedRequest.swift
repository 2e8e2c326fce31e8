public import OperationCore

/// An operation that reads a list page by page, in one direction or in both.
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
/// Its store loads pages with ``OperationCore/OperationStore/fetchNextPage(using:handler:)`` and its kin. A plain run, such as
/// one that a subscription starts, refetches all pages, or loads the initial one when there is none.
public protocol PaginatedRequest<PageID, PageValue, PageFailure>: StatefulOperationRequest
where
  State == PaginatedState<PageID, PageValue, PageFailure>,
  Value == PaginatedOperationValue<PageID, PageValue>,
  Failure == PageFailure
{
  /// What identifies a page. Stores compare and hash it under their locks, so its `==` and `hash(into:)` must not use a store.
  associatedtype PageID: Hashable & Sendable

  /// What a page holds.
  associatedtype PageValue: Sendable

  /// What fetching a page can throw.
  associatedtype PageFailure: Error

  /// The state that a store keeps for this request.
  associatedtype State = PaginatedState<PageID, PageValue, PageFailure>

  /// What a run produces.
  associatedtype Value = PaginatedOperationValue<PageID, PageValue>

  /// What a run can throw.
  associatedtype Failure = PageFailure

  /// The identifier of the page that is loaded when there is none.
  var initialPageId: PageID { get }

  /// The identifier of the page that comes after `page`; nil when that is the last one.
  ///
  /// It is asked whenever the identifier is needed, on any thread, so it should be computed from its arguments. The identifier
  /// of a page that is there already ends the direction as nil does.
  func pageId(
    after page: Page<PageID, PageValue>,
    using paging: Paging<PageID, PageValue>,
    in context: OperationContext
  ) -> PageID?

  /// The identifier of the page that comes before `page`; nil, the default, when that is the first one.
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
  ///   - isolation: The actor to run on; nil to run on no actor.
  ///   - paging: Says which page, and why.
  ///   - context: The configuration and dependencies of this run.
  ///   - continuation: Takes values of the page ahead of the returned one, such as a cached value.
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
  /// No page comes before the first one.
  @inlinable
  public func pageId(
    before page: Page<PageID, PageValue>,
    using paging: Paging<PageID, PageValue>,
    in context: OperationContext
  ) -> PageID? {
    nil
  }

  /// Loads what the run is asked for: one page, or all.
  @inlinable
  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<PaginatedOperationValue<PageID, PageValue>, PageFailure>
  ) async throws(PageFailure) -> PaginatedOperationValue<PageID, PageValue> {
    try await PageLoad(request: self, context: context, continuation: continuation).perform()
  }

  /// The name of the operation and what the run loads: `Post.Feed: next page`.
  public func taskName(in context: OperationContext) -> String {
    let run: PagingRun<PageID, PageValue, PageFailure>? = context.pagingRun()
    let request = run?.request ?? context[PageRequestKind.Key.self].map { $0.request(hasPages: true) }
    let work =
      switch request {
      case .initialPage: "initial page"
      case .nextPage: "next page"
      case .previousPage: "previous page"
      case .allPages: "all pages"
      case nil: "pages"
      }
    return "\(self.operationName): \(work)"
  }

  /// Whether both runs load the same page, or both all pages.
  @inlinable
  public func isSameRun(in context: OperationContext, as other: OperationContext) -> Bool {
    PageTarget(of: self, in: context, pagesOf: other) == PageTarget(of: self, in: other, pagesOf: other)
  }
}
