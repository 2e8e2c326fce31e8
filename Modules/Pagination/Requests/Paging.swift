/// The circumstances in which a page is fetched: its identifier, the present pages, and the request it belongs to.
public struct Paging<PageID: Hashable & Sendable, PageValue: Sendable>: Sendable {
  /// The identifier of the page to fetch.
  ///
  /// In `pageId(after:using:in:)` and `pageId(before:using:in:)`, the identifier of the given page.
  public let pageId: PageID

  /// The present pages. During a refetch of all pages, those that have been refetched so far.
  public let pages: Pages<PageID, PageValue>

  /// The request that the page belongs to.
  public let request: PagingRequest

  /// Creates a value.
  @inlinable
  public init(pageId: PageID, pages: Pages<PageID, PageValue>, request: PagingRequest) {
    self.pageId = pageId
    self.pages = pages
    self.request = request
  }
}

extension Paging: Equatable where PageValue: Equatable {}

extension Paging: Hashable where PageValue: Hashable {}

/// The request of one run of a paginated operation.
public enum PagingRequest: Hashable, Sendable {
  /// The initial page, as there are no pages.
  case initialPage

  /// The page after the last one.
  case nextPage

  /// The page before the first one.
  case previousPage

  /// All present pages again.
  case allPages
}

extension PagingRequest {
  /// Returns whether a run of this request must not be active at the same time as one of `other`.
  ///
  /// The next and the previous page may load at the same time. A refetch excludes the loads of single pages.
  @usableFromInline
  func excludes(_ other: PagingRequest) -> Bool {
    switch self {
    case .initialPage: other == .initialPage
    case .nextPage: other != .previousPage
    case .previousPage: other != .nextPage
    case .allPages: true
    }
  }
}
