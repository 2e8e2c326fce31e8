extension Pages: RandomAccessCollection {
  /// The index of the first page.
  @inlinable
  public var startIndex: Int { 0 }

  /// The index behind the last page.
  @inlinable
  public var endIndex: Int { self.entries.count }

  /// How many pages there are.
  @inlinable
  public var count: Int { self.entries.count }

  /// Whether there are no pages.
  @inlinable
  public var isEmpty: Bool { self.entries.isEmpty }

  /// The first page.
  @inlinable
  public var first: Page<PageID, PageValue>? {
    self.entries.first?.element.page
  }

  /// The last page.
  @inlinable
  public var last: Page<PageID, PageValue>? {
    self.entries.last?.element.page
  }

  /// The page at an index.
  ///
  /// Setting a page puts it in the place of the one at the index. A page that is set under the identifier of one at another
  /// index replaces that as well, so that there is one page less.
  @inlinable
  public subscript(position: Int) -> Page<PageID, PageValue> {
    get { self.entries.element(at: position).page }
    set { self.replace(self.entries.leaf(at: position).element.page.id, with: newValue) }
  }
}

extension Pages: ExpressibleByArrayLiteral {
  /// Creates a value with pages in the order in which they are written.
  @inlinable
  public init(arrayLiteral pages: Page<PageID, PageValue>...) {
    self.init(pages)
  }
}

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
