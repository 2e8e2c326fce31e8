public import OperationCore

extension PaginatedState: PartitionedOperationState {
  /// Identifies a page.
  public typealias ValuePartID = PageID

  /// The value of a page.
  public typealias ValuePart = PageValue

  /// Calls `body` with the pages that were added, replaced or removed since an earlier value.
  ///
  /// - Complexity: O(*n*) in the number of these pages, if one value comes from the other by a few changes.
  public func forEachChangedPart(
    of value: Pages<PageID, PageValue>,
    since earlier: Pages<PageID, PageValue>?,
    _ body: (PageID, PageValue?) -> Void
  ) {
    guard let earlier else {
      for page in value { body(page.id, page.value) }
      return
    }
    earlier.entries.visitUnshared(with: value.entries) { entry in
      if !value.contains(id: entry.page.id) { body(entry.page.id, nil) }
    }
    value.entries.visitUnshared(with: earlier.entries) { entry in
      let page = entry.page
      if let former = earlier[id: page.id], Self.areSameBytes(former.value, page.value) { return }
      body(page.id, page.value)
    }
  }

  /// Whether two values that exist at the same time consist of the same bytes: the same buffers, objects and numbers.
  ///
  /// Then they are equal. Equal values can have other bytes.
  private static func areSameBytes(_ lhs: PageValue, _ rhs: PageValue) -> Bool {
    withUnsafeBytes(of: lhs) { lhs in withUnsafeBytes(of: rhs) { rhs in lhs.elementsEqual(rhs) } }
  }
}
