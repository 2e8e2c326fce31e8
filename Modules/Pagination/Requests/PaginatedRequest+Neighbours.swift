public import OperationCore

extension PaginatedRequest {
  /// Returns the identifier of the page to load after the last of `pages`.
  ///
  /// Nil if no page comes after it, or if the page is among `pages` already.
  @inlinable
  func nextPageId(
    of pages: Pages<PageID, PageValue>,
    for request: PagingRequest = .nextPage,
    in context: OperationContext
  ) -> PageID? {
    guard let last = pages.last else { return nil }
    let paging = Paging(pageId: last.id, pages: pages, request: request)
    return self.pageId(after: last, using: paging, in: context).flatMap { pages.contains(id: $0) ? nil : $0 }
  }

  /// Returns the identifier of the page to load before the first of `pages`.
  ///
  /// Nil if no page comes before it, or if the page is among `pages` already.
  @inlinable
  func previousPageId(of pages: Pages<PageID, PageValue>, in context: OperationContext) -> PageID? {
    guard let first = pages.first else { return nil }
    let paging = Paging(pageId: first.id, pages: pages, request: .previousPage)
    return self.pageId(before: first, using: paging, in: context).flatMap { pages.contains(id: $0) ? nil : $0 }
  }
}
