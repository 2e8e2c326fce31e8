public import OperationCore
public import OperationFoundation

/// The pages of a state with their order, dates and counts, for a later store.
public struct StoredPages<PageID: Hashable & Sendable, PageValue: Sendable>: Sendable {
  /// One page.
  struct Item: Sendable {
    let id: PageID
    let value: PageValue
    /// When the page was set or loaded, in seconds since the reference date; nil if that is unknown.
    let seconds: Double?
  }

  /// The pages, in order.
  let items: [Item]
  let valueUpdateCount: Int
  let valueLastUpdatedAt: Date
  let errorUpdateCount: Int
  let errorLastUpdatedAt: Date?
}

extension StoredPages.Item: Encodable where PageID: Encodable, PageValue: Encodable {}
extension StoredPages.Item: Decodable where PageID: Decodable, PageValue: Decodable {}
extension StoredPages: Encodable where PageID: Encodable, PageValue: Encodable {}
extension StoredPages: Decodable where PageID: Decodable, PageValue: Decodable {}

extension PaginatedState: RestorableState {
  public var restoration: StoredPages<PageID, PageValue>? {
    guard self.valueUpdateCount > 0, let date = self.valueLastUpdatedAt else { return nil }
    var items: [StoredPages<PageID, PageValue>.Item] = []
    items.reserveCapacity(self.currentValue.count)
    self.currentValue.entries.visit { entry in
      let seconds = entry.time.seconds
      items.append(.init(id: entry.page.id, value: entry.page.value, seconds: seconds.isFinite ? seconds : nil))
    }
    return StoredPages(
      items: items,
      valueUpdateCount: self.valueUpdateCount,
      valueLastUpdatedAt: date,
      errorUpdateCount: self.errorUpdateCount,
      errorLastUpdatedAt: self.errorLastUpdatedAt
    )
  }

  public var restorableValue: Pages<PageID, PageValue>? { self.valueUpdateCount > 0 ? self.currentValue : nil }

  public static func valueDate(of restoration: StoredPages<PageID, PageValue>) -> Date? {
    restoration.valueLastUpdatedAt
  }

  /// Takes over stored pages, unless pages were set or loaded since the state was made.
  ///
  /// The identifiers of the next and the previous page follow from the pages, as they always do.
  public mutating func restore(_ restoration: StoredPages<PageID, PageValue>) {
    guard self.valueUpdateCount == 0, restoration.valueUpdateCount > 0 else { return }
    let storage = self.uniqueStorage()
    storage.content.currentValue = Self.pages(of: restoration)
    storage.content.stamps = [:]
    storage.content.valueUpdateCount = restoration.valueUpdateCount
    storage.content.valueLastUpdatedAt = restoration.valueLastUpdatedAt
    storage.content.errorUpdateCount += restoration.errorUpdateCount
    storage.content.errorLastUpdatedAt = storage.content.errorLastUpdatedAt ?? restoration.errorLastUpdatedAt
  }

  /// Takes over stored pages in place of older ones.
  public mutating func replaceValue(with restoration: StoredPages<PageID, PageValue>) {
    let storage = self.uniqueStorage()
    storage.content.currentValue = Self.pages(of: restoration)
    storage.content.stamps = [:]
    storage.content.valueUpdateCount += 1
    storage.content.valueLastUpdatedAt = restoration.valueLastUpdatedAt
    // An error that was set later than the pages stays.
    guard let date = storage.content.errorLastUpdatedAt, date <= restoration.valueLastUpdatedAt else { return }
    storage.content.error = nil
  }

  private static func pages(of restoration: StoredPages<PageID, PageValue>) -> Pages<PageID, PageValue> {
    var pages = Pages<PageID, PageValue>()
    for item in restoration.items {
      let time = item.seconds.map { PageTime(seconds: $0) } ?? .unknown
      let page = Page(id: item.id, value: item.value)
      pages.insert(Pages.Entry(page: page, revision: .now(), time: time), atEnd: true)
    }
    return pages
  }
}
