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
