internal import OperationCore

/// What a run is to load in the end, by which runs that do the same are told.
enum PageAim<PageID: Hashable & Sendable>: Hashable, Sendable {
  case initialPage
  case nextPage(PageID?)
  case previousPage(PageID?)
  case allPages
  /// Nothing can be said of the pages: the demands decide.
  case demand(PageDemand)

  /// What a run in `context` aims at.
  ///
  /// - Parameter storeContext: The context of a run in the store whose pages count.
  init<Request: PaginatedRequest>(
    of request: Request,
    in context: OperationContext,
    pagesOf storeContext: OperationContext
  ) where Request.PageID == PageID {
    let entry = context[PagingEntry<PageID, Request.PageValue, Request.PageFailure>.Key.self]
    // What a run has begun to load is what it aims at, whatever pages have come and gone since.
    if let aim = entry?.run?.aim {
      self = aim
      return
    }
    let demand = entry?.demand ?? .whatIsThere
    guard let pages = PaginatedStore<Request>(of: storeContext)?.pages else {
      self = .demand(demand)
      return
    }
    switch demand.request(hasPages: !pages.isEmpty) {
    case .initialPage: self = .initialPage
    case .nextPage: self = .nextPage(request.nextPageId(of: pages, in: context))
    case .previousPage: self = .previousPage(request.previousPageId(of: pages, in: context))
    case .allPages: self = .allPages
    }
  }
}
