public import OperationCore

/// What a run is to load in the end, by which runs that do the same are told.
@usableFromInline
enum PageTarget<PageID: Hashable & Sendable>: Hashable, Sendable {
  case initialPage
  case nextPage(PageID?)
  case previousPage(PageID?)
  case allPages
  /// Nothing can be said of the pages: the requests decide.
  case requestKind(PageRequestKind)

  /// What a run in `context` targets at.
  ///
  /// - Parameter storeContext: The context of a run in the store whose pages count.
  @inlinable
  init<Request: PaginatedRequest>(
    of request: Request,
    in context: OperationContext,
    pagesOf storeContext: OperationContext
  ) where Request.PageID == PageID {
    let run: PagingRun<PageID, Request.PageValue, Request.PageFailure>? = context.pagingRun()
    // What a run has begun to load is what it targets at, whatever pages have come and gone since.
    if let target = run?.target {
      self = target
      return
    }
    let requestKind = run?.requestKind ?? context[PageRequestKind.Key.self] ?? .whatIsThere
    guard let pages = PaginatedStore<Request>(of: storeContext)?.pages else {
      self = .requestKind(requestKind)
      return
    }
    switch requestKind.request(hasPages: !pages.isEmpty) {
    case .initialPage: self = .initialPage
    case .nextPage: self = .nextPage(request.nextPageId(of: pages, in: context))
    case .previousPage: self = .previousPage(request.previousPageId(of: pages, in: context))
    case .allPages: self = .allPages
    }
  }
}
