/// The identifiers of pages, in order.
@usableFromInline
struct PageIdentifiers<PageID: Hashable & Sendable, PageValue: Sendable>: RandomAccessCollection, Sendable {
  @usableFromInline let pages: Pages<PageID, PageValue>

  @inlinable
  init(pages: Pages<PageID, PageValue>) {
    self.pages = pages
  }

  @inlinable
  var startIndex: Int { 0 }
  @inlinable
  var endIndex: Int { self.pages.count }

  @inlinable
  subscript(position: Int) -> PageID { self.pages[position].id }
}
