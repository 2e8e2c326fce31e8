extension Pages {
  /// Creates a value with the pages of a sequence, in its order.
  ///
  /// Use ``init(_:)`` for pages of which several may have the same identifier.
  ///
  /// - Precondition: The identifiers are unique.
  @inlinable
  public init(uniqueElements pages: some Sequence<Page<PageID, PageValue>>) {
    self.init()
    for page in pages {
      let count = self.count
      self.append(page)
      precondition(self.count > count, "Two of the unique pages have one identifier.")
    }
  }

  /// Replaces the page with the same identifier, or appends the page if there is none.
  ///
  /// - Returns: The replaced page, or nil if the page was appended.
  @discardableResult
  @inlinable
  public mutating func updateOrAppend(_ page: Page<PageID, PageValue>) -> Page<PageID, PageValue>? {
    let replaced = self[id: page.id]
    self.append(page)
    return replaced
  }

  /// Inserts a page before the page at an index, or at the end if the index is the end.
  ///
  /// If a page with the same identifier exists, the page replaces that one instead, at whatever index.
  ///
  /// - Complexity: O(n), where n is the number of pages. At either end, and if it replaces a page, as
  ///   ``append(_:)``.
  /// - Precondition: The index is the index of a page, or the end.
  @inlinable
  public mutating func insert(_ page: Page<PageID, PageValue>, at index: Int) {
    precondition(
      index >= 0 && index <= self.count,
      "The index \(index) is out of bounds: there are \(self.count) pages."
    )
    if index == self.count || self.contains(id: page.id) { return self.append(page) }
    if index == 0 { return self.prepend(page) }
    // There may be no free integer between two places, so the pages are numbered anew.
    var pages = Pages()
    self.entries.visit { entry in
      if pages.count == index { pages.append(page) }
      pages.insert(entry, atEnd: true)
    }
    self = pages
  }

  /// Removes the page at an index, and returns it.
  ///
  /// - Precondition: The index is the index of a page.
  @discardableResult
  @inlinable
  public mutating func remove(at index: Int) -> Page<PageID, PageValue> {
    let page = self[index]
    self.remove(id: page.id)
    return page
  }

  /// Removes the pages for which `shouldBeRemoved` returns true.
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

  /// Returns the pages for which `isIncluded` returns true, in their order. They do not count as edited.
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

extension Pages {
  /// Replaces parts of pages without counting as an edit of the pages: they keep their order in time, and their dates.
  ///
  /// A page that is being fetched again still replaces such a page.
  ///
  /// - Parameter edit: Edits the value of a page, and returns whether it has.
  package mutating func replaceParts(_ edit: (inout PageValue) -> Bool) {
    var edited: [Entry] = []
    self.entries.visit { entry in
      var entry = entry
      if edit(&entry.page.value) { edited.append(entry) }
    }
    for entry in edited { self.insert(entry, atEnd: true) }
  }
}
