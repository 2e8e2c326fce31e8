internal import OperationFoundation

/// The values of a client's stores as one value, to hand over to another process.
///
/// `client.dehydrate()` makes it, and `client.hydrate(_:)` of the other process takes it over. It can be encoded with any
/// encoder. Its form is stable between versions of the library.
public struct DehydratedValues: Sendable, Hashable {
  /// One value, in the form in which it is also stored.
  struct Entry: Sendable, Hashable {
    /// When the value was set, in seconds since the reference date; nil if that is unknown.
    let seconds: Double?
    /// One line with the format, the version of the value and whether it was invalidated; then the value as JSON.
    let text: String
  }

  /// The values by the keys under which they would be stored.
  var entries: [String: Entry] = [:]

  /// Creates an empty value.
  public init() {}

  /// The number of values.
  public var count: Int { self.entries.count }

  /// Whether there are no values.
  public var isEmpty: Bool { self.entries.isEmpty }
}

extension DehydratedValues.Entry: Codable {
  private enum CodingKeys: String, CodingKey {
    case seconds = "date"
    case text = "value"
  }
}

extension DehydratedValues.Entry {
  /// When the value was set; nil if that is unknown.
  var date: Date? { self.seconds.map { Date(timeIntervalSinceReferenceDate: $0) } }

  init(date: Date?, text: String) {
    let seconds = date?.timeIntervalSinceReferenceDate
    self.init(seconds: seconds?.isFinite == true ? seconds : nil, text: text)
  }

  /// Whether the value is newer than another one. A value with a date is newer than a value without.
  func isNewer(than other: Self) -> Bool {
    guard let seconds = self.seconds else { return false }
    return other.seconds.map { seconds > $0 } ?? true
  }
}

extension DehydratedValues: Codable {
  private enum CodingKeys: CodingKey {
    case format, values
  }

  private static let format = 1

  /// Encodes the values, each with its key.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(Self.format, forKey: .format)
    try container.encode(self.entries, forKey: .values)
  }

  /// Decodes what `encode(to:)` has encoded.
  ///
  /// - Throws: A `DecodingError`, also for values in a form that this version of the library does not know.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let format = try container.decode(Int.self, forKey: .format)
    guard format == Self.format else {
      throw DecodingError.dataCorruptedError(
        forKey: .format,
        in: container,
        debugDescription: "The values have the form \(format), and this version of the library knows \(Self.format)."
      )
    }
    self.entries = try container.decode([String: Entry].self, forKey: .values)
  }
}

extension DehydratedValues: CustomStringConvertible {
  /// The number of values. The values themselves are not shown.
  public var description: String { "DehydratedValues(\(self.count) values)" }
}
