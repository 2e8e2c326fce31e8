extension Pages: RandomAccessCollection {
  /// The index of the first page.
  @inlinable
  public var startIndex: Int { 0 }

  /// The index after the last page.
  @inlinable
  public var endIndex: Int { self.entries.count }

  /// The number of pages.
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
  /// Setting a page replaces the one at the index. If a page at another index has the identifier of the new page, that
  /// page is removed, so that the count decreases by one.
  @inlinable
  public subscript(position: Int) -> Page<PageID, PageValue> {
    get { self.entries.element(at: position).page }
    set { self.replace(self.entries.leaf(at: position).element.page.id, with: newValue) }
  }
}

extension Pages: ExpressibleByArrayLiteral {
  /// Creates a value with the pages of an array literal.
  @inlinable
  public init(arrayLiteral pages: Page<PageID, PageValue>...) {
    self.init(pages)
  }
}
