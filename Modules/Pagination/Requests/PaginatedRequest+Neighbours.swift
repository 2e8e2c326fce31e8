public import OperationCore

extension PaginatedRequest {
  /// The identifier of the page to load after the last of `pages`, which nobody has yet; nil where the direction ends.
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

  /// The identifier of the page to load before the first of `pages`, which nobody has yet; nil where the direction ends.
  @inlinable
  func previousPageId(of pages: Pages<PageID, PageValue>, in context: OperationContext) -> PageID? {
    guard let first = pages.first else { return nil }
    let paging = Paging(pageId: first.id, pages: pages, request: .previousPage)
    return self.pageId(before: first, using: paging, in: context).flatMap { pages.contains(id: $0) ? nil : $0 }
  }
}
