extension Pages: Equatable where PageValue: Equatable {
  /// Whether both have equal pages in the same order.
  public static func == (lhs: Pages, rhs: Pages) -> Bool {
    lhs.entries.isIdentical(to: rhs.entries) || lhs.elementsEqual(rhs)
  }
}

extension Pages: Hashable where PageValue: Hashable {
  /// Feeds the pages to a hasher, in order.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(self.count)
    self.entries.visit { hasher.combine($0.page) }
  }
}

extension Pages: Encodable where PageID: Encodable, PageValue: Encodable {
  /// Encodes the pages as an array.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    for page in self { try container.encode(page) }
  }
}

extension Pages: Decodable where PageID: Decodable, PageValue: Decodable {
  /// Decodes an array of pages.
  public init(from decoder: any Decoder) throws {
    var container = try decoder.unkeyedContainer()
    self.init()
    while !container.isAtEnd { self.append(try container.decode(Page<PageID, PageValue>.self)) }
  }
}

extension Pages: CustomStringConvertible {
  /// The pages, in order.
  public var description: String { Array(self).description }
}
