/// What a page is fetched for: its identifier, the pages that are there, and the request that it belongs to.
public struct Paging<PageID: Hashable & Sendable, PageValue: Sendable>: Sendable {
  /// The identifier of the page to fetch. Where the identifier of a neighbour is asked for, that of the page next to it.
  public let pageId: PageID

  /// The pages that are there. While all pages are refetched, those that have been refetched so far.
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

/// What a paginated operation is asked to load.
public enum PagingRequest: Hashable, Sendable {
  /// The first page of all, as there is none.
  case initialPage

  /// The page after the last one.
  case nextPage

  /// The page before the first one.
  case previousPage

  /// All pages that are there, anew.
  case allPages
}

extension PagingRequest {
  /// Whether a run of this and one of `other` come one after the other.
  ///
  /// The next and the previous page may load at once. A refetch and the loads of single pages keep apart.
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
