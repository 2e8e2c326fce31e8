public import OperationCore

/// What a run loads. Two runs with equal targets do the same work.
@usableFromInline
enum PageTarget<PageID: Hashable & Sendable>: Hashable, Sendable {
  case initialPage
  case nextPage(PageID?)
  case previousPage(PageID?)
  case allPages
  case selectedPages(PageSelection)
  /// The pages are unknown, so only the kinds of the requests are compared.
  case requestKind(PageRequestKind)

  /// Creates the target of a run.
  ///
  /// - Parameters:
  ///   - request: The operation of the run.
  ///   - context: The context of the run.
  ///   - storeContext: The context of a run in the store whose pages determine the target.
  @inlinable
  init<Request: PaginatedRequest>(
    of request: Request,
    in context: OperationContext,
    pagesOf storeContext: OperationContext
  ) where Request.PageID == PageID {
    let run: PagingRun<PageID, Request.PageValue, Request.PageFailure>? = context.pagingRun()
    // The target is fixed when the run begins to load, even if the pages change later.
    if let target = run?.target {
      self = target
      return
    }
    let requestKind = run?.requestKind ?? context[PageRequestKind.Key.self] ?? .existing
    guard let pages = PaginatedStore<Request>(of: storeContext)?.pages else {
      self = .requestKind(requestKind)
      return
    }
    if requestKind == .selected, !pages.isEmpty, let selection = run?.selection ?? context[PageSelection.Key.self] {
      self = .selectedPages(selection)
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
