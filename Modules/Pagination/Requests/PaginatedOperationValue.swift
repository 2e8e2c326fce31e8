/// What a run of a paginated operation produces.
public enum PaginatedOperationValue<PageID: Hashable & Sendable, PageValue: Sendable>: Sendable {
  /// The first page of all.
  case initialPage(Page<PageID, PageValue>)

  /// The page after the last one; nil when there is none.
  case nextPage(Page<PageID, PageValue>?)

  /// The page before the first one; nil when there is none.
  case previousPage(Page<PageID, PageValue>?)

  /// All pages, as they were refetched. What a refetch yields is the page that it is at.
  case allPages(Pages<PageID, PageValue>)
}

extension PaginatedOperationValue {
  /// What was asked for.
  @inlinable
  public var request: PagingRequest {
    switch self {
    case .initialPage: .initialPage
    case .nextPage: .nextPage
    case .previousPage: .previousPage
    case .allPages: .allPages
    }
  }

  /// The page, when a single one was asked for and there is one.
  @inlinable
  public var page: Page<PageID, PageValue>? {
    switch self {
    case .initialPage(let page): page
    case .nextPage(let page), .previousPage(let page): page
    case .allPages: nil
    }
  }

  /// All pages that were loaded.
  @inlinable
  public var pages: Pages<PageID, PageValue> {
    if case .allPages(let pages) = self { return pages }
    return self.page.map { [$0] } ?? []
  }
}

extension PaginatedOperationValue: Equatable where PageValue: Equatable {}

extension PaginatedOperationValue: Hashable where PageValue: Hashable {}
