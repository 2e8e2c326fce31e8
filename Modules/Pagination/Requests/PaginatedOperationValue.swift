/// The value that a run of a paginated operation produces.
public enum PaginatedOperationValue<PageID: Hashable & Sendable, PageValue: Sendable>: Sendable {
  /// The initial page.
  case initialPage(Page<PageID, PageValue>)

  /// The page after the last one. Nil if no page comes after it.
  case nextPage(Page<PageID, PageValue>?)

  /// The page before the first one. Nil if no page comes before it.
  case previousPage(Page<PageID, PageValue>?)

  /// All pages as they were refetched. A yielded value contains only the page that is being fetched.
  case allPages(Pages<PageID, PageValue>)
}

extension PaginatedOperationValue {
  /// The request of the run.
  public var request: PagingRequest {
    switch self {
    case .initialPage: .initialPage
    case .nextPage: .nextPage
    case .previousPage: .previousPage
    case .allPages: .allPages
    }
  }

  /// The page of a run that has loaded a single one. Nil if the run has found none, or has refetched all pages.
  public var page: Page<PageID, PageValue>? {
    switch self {
    case .initialPage(let page): page
    case .nextPage(let page), .previousPage(let page): page
    case .allPages: nil
    }
  }

  /// The pages that the run has loaded.
  public var pages: Pages<PageID, PageValue> {
    if case .allPages(let pages) = self { return pages }
    return self.page.map { [$0] } ?? []
  }
}

extension PaginatedOperationValue: Equatable where PageValue: Equatable {}

extension PaginatedOperationValue: Hashable where PageValue: Hashable {}
