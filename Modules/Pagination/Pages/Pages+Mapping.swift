extension Pages {
  /// Returns the pages that `transform` returns for these, in their order.
  ///
  /// Of new pages with the same identifier the last is kept, in the place of the first.
  public func map<NewValue: Sendable, E: Error>(
    _ transform: (Page<PageID, PageValue>) throws(E) -> Page<PageID, NewValue>
  ) throws(E) -> Pages<PageID, NewValue> {
    var pages = Pages<PageID, NewValue>()
    try self.entries.visit { entry throws(E) in
      pages.append(try transform(entry.page))
    }
    return pages
  }
}

extension Pages where PageValue: Equatable {
  /// Returns the pages that `transform` returns for these, in their order.
  ///
  /// Of new pages with the same identifier the last is kept, in the place of the first. Pages that stay equal do not
  /// count as edited.
  public func map<E: Error>(
    _ transform: (Page<PageID, PageValue>) throws(E) -> Page<PageID, PageValue>
  ) throws(E) -> Pages {
    var pages = Pages()
    try self.entries.visit { entry throws(E) in
      let page = try transform(entry.page)
      pages.insert(page == entry.page ? entry : Entry(page: page, revision: .now()), atEnd: true)
    }
    return pages
  }
}
