internal import OperationCore

/// How much the stored values of a client may take of a storage: see `ClientPersistence.limits`.
///
/// ```swift
/// client.persistence.limits = StorageLimits(maximumBytes: 50_000_000, maximumValueBytes: 1_000_000)
/// ```
///
/// The size of a value is the number of bytes of its key and of its stored form. What the storage needs in addition is not
/// counted, nor are the calls of a ``MutationJournal``.
public struct StorageLimits: Hashable, Sendable {
  /// The most bytes of all values; nil for any number.
  public let maximumBytes: Int?

  /// The most values; nil for any number.
  public let maximumRows: Int?

  /// The most bytes of one value; nil for any number up to ``maximumBytes``.
  public let maximumValueBytes: Int?

  /// Creates limits. A negative number is reported and counts as zero, so that nothing is stored.
  ///
  /// - Parameters:
  ///   - maximumBytes: The most bytes of all values; nil for any number.
  ///   - maximumRows: The most values; nil for any number.
  ///   - maximumValueBytes: The most bytes of one value; nil for any number up to `maximumBytes`.
  public init(maximumBytes: Int? = nil, maximumRows: Int? = nil, maximumValueBytes: Int? = nil) {
    self.maximumBytes = Self.checked(maximumBytes, "maximumBytes")
    self.maximumRows = Self.checked(maximumRows, "maximumRows")
    self.maximumValueBytes = Self.checked(maximumValueBytes, "maximumValueBytes")
  }

  private static func checked(_ number: Int?, _ name: String) -> Int? {
    guard let number, number < 0 else { return number }
    OperationWarning(
      code: .invalidArgument,
      message: "The limit `\(name): \(number)` of a storage counts as 0, and nothing is stored. Pass a positive number."
    ).report()
    return 0
  }

  /// Why a value is not stored, however little else there is; nil if it fits.
  func refusal(ofBytes count: Int) -> String? {
    if let maximumRows, maximumRows == 0 { return "the limit is 0 values" }
    let limit = min(self.maximumValueBytes ?? .max, self.maximumBytes ?? .max)
    return count > limit ? "it has \(count) bytes, and the limit is \(limit)" : nil
  }

  /// Whether so many values with so many bytes are within the limits.
  func allows(rows: Int, bytes: Int) -> Bool {
    rows <= self.maximumRows ?? .max && bytes <= self.maximumBytes ?? .max
  }
}
