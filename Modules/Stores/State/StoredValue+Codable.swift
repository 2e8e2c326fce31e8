internal import OperationFoundation

private enum StoredValueKeys: String, CodingKey {
  case value, hasValue, valueUpdateCount, valueLastUpdatedAt, errorUpdateCount, errorLastUpdatedAt
}

// `hasValue` is a separate key because an optional `Value` may be nil, which most formats cannot distinguish from a
// missing value.

extension StoredValue: Encodable where Value: Encodable {
  /// Encodes the value with its dates and counts.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: StoredValueKeys.self)
    try container.encode(self.value != nil, forKey: .hasValue)
    if let value = self.value { try container.encode(value, forKey: .value) }
    try container.encode(self.valueUpdateCount, forKey: .valueUpdateCount)
    try container.encode(self.valueLastUpdatedAt, forKey: .valueLastUpdatedAt)
    try container.encode(self.errorUpdateCount, forKey: .errorUpdateCount)
    try container.encodeIfPresent(self.errorLastUpdatedAt, forKey: .errorLastUpdatedAt)
  }
}

extension StoredValue: Decodable where Value: Decodable {
  /// Decodes what `encode(to:)` has encoded.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: StoredValueKeys.self)
    let hasValue = try container.decode(Bool.self, forKey: .hasValue)
    self.init(
      value: hasValue ? try container.decode(Value.self, forKey: .value) : nil,
      valueUpdateCount: try container.decode(Int.self, forKey: .valueUpdateCount),
      valueLastUpdatedAt: try container.decode(Date.self, forKey: .valueLastUpdatedAt),
      errorUpdateCount: try container.decode(Int.self, forKey: .errorUpdateCount),
      errorLastUpdatedAt: try container.decodeIfPresent(Date.self, forKey: .errorLastUpdatedAt)
    )
  }
}
