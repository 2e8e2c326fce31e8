extension Pages {
  /// Creates a value with the pages of a sequence, in its order.
  ///
  /// ``init(_:)`` takes pages of which several have one identifier.
  ///
  /// - Precondition: Each page has an identifier of its own.
  @inlinable
  public init(uniqueElements pages: some Sequence<Page<PageID, PageValue>>) {
    self.init()
    for page in pages {
      let count = self.count
      self.append(page)
      precondition(self.count > count, "Two of the unique pages have one identifier.")
    }
  }

  /// Puts a page in the place of the one with its identifier, or at the end when there is none.
  ///
  /// - Returns: The page that was there.
  @discardableResult
  @inlinable
  public mutating func updateOrAppend(_ page: Page<PageID, PageValue>) -> Page<PageID, PageValue>? {
    let replaced = self[id: page.id]
    self.append(page)
    return replaced
  }

  /// Inserts a page before the one at an index, or at the end when the index is the end.
  ///
  /// When a page with its identifier is there, it takes the place of that instead, wherever that is.
  ///
  /// - Complexity: O(n), where n is the number of pages; at either end and for a page that is there, that of ``append(_:)``.
  /// - Precondition: The index is that of a page, or the end.
  @inlinable
  public mutating func insert(_ page: Page<PageID, PageValue>, at index: Int) {
    precondition(
      index >= 0 && index <= self.count,
      "The index \(index) is out of bounds: there are \(self.count) pages."
    )
    if index == self.count || self.contains(id: page.id) { return self.append(page) }
    if index == 0 { return self.prepend(page) }
    // The places of the pages leave no room between them.
    var pages = Pages()
    self.entries.visit { entry in
      if pages.count == index { pages.append(page) }
      pages.insert(entry, atEnd: true)
    }
    self = pages
  }

  /// Removes the page at an index, and returns it.
  ///
  /// - Precondition: The index is that of a page.
  @discardableResult
  @inlinable
  public mutating func remove(at index: Int) -> Page<PageID, PageValue> {
    let page = self[index]
    self.remove(id: page.id)
    return page
  }

  /// Removes the pages that `shouldBeRemoved` holds for.
  ///
  /// - Complexity: O(n), where n is the number of pages.
  @inlinable
  public mutating func removeAll<E: Error>(
    where shouldBeRemoved: (Page<PageID, PageValue>) throws(E) -> Bool
  ) throws(E) {
    var ids: [PageID] = []
    try self.entries.visit { entry throws(E) in
      if try shouldBeRemoved(entry.page) { ids.append(entry.page.id) }
    }
    for id in ids { self.remove(id: id) }
  }

  /// The pages that `isIncluded` holds for, in their order. They do not count as edited.
  ///
  /// - Complexity: O(n), where n is the number of pages.
  @inlinable
  public func filter<E: Error>(
    _ isIncluded: (Page<PageID, PageValue>) throws(E) -> Bool
  ) throws(E) -> Pages {
    var pages = self
    try pages.removeAll { page throws(E) in try !isIncluded(page) }
    return pages
  }
}
