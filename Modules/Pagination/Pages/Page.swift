/// One page of a paginated operation.
public struct Page<PageID: Hashable & Sendable, PageValue: Sendable>: Sendable, Identifiable {
  /// The identifier of the page, unique among the pages of its operation.
  public let id: PageID

  /// The value of the page.
  public var value: PageValue

  /// Creates a page.
  @inlinable
  public init(id: PageID, value: PageValue) {
    self.id = id
    self.value = value
  }
}

extension Page: Equatable where PageValue: Equatable {}

extension Page: Hashable where PageValue: Hashable {}

extension Page: Encodable where PageID: Encodable, PageValue: Encodable {}

extension Page: Decodable where PageID: Decodable, PageValue: Decodable {}

extension Page: CustomStringConvertible {
  /// The identifier and the value.
  @inlinable
  public var description: String { "Page(id: \(self.id), value: \(self.value))" }
}
