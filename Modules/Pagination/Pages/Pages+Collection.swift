extension Pages: RandomAccessCollection {
  /// The index of the first page.
  public var startIndex: Int { 0 }

  /// The index behind the last page.
  public var endIndex: Int { self.entries.count }

  /// How many pages there are.
  public var count: Int { self.entries.count }

  /// Whether there are no pages.
  public var isEmpty: Bool { self.entries.isEmpty }

  /// The first page.
  public var first: Page<PageID, PageValue>? {
    self.entries.firstKey.flatMap { self.entries[$0]?.page }
  }

  /// The last page.
  public var last: Page<PageID, PageValue>? {
    self.entries.lastKey.flatMap { self.entries[$0]?.page }
  }

  /// The page at an index.
  public subscript(position: Int) -> Page<PageID, PageValue> {
    self.entries.element(at: position).page
  }
}

extension Pages: ExpressibleByArrayLiteral {
  /// Creates a value with pages in the order in which they are written.
  public init(arrayLiteral pages: Page<PageID, PageValue>...) {
    self.init(pages)
  }
}

/// The identifiers of pages, in order.
struct PageIdentifiers<PageID: Hashable & Sendable, PageValue: Sendable>: RandomAccessCollection, Sendable {
  let pages: Pages<PageID, PageValue>

  var startIndex: Int { 0 }
  var endIndex: Int { self.pages.count }

  subscript(position: Int) -> PageID { self.pages[position].id }
}
