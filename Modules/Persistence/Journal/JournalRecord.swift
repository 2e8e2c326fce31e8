/// The stored form of a journal entry.
struct JournalRecord: Codable, Sendable {
  static let currentFormat = 1

  var format = Self.currentFormat
  let id: String
  let name: String
  /// The text of the scope's name.
  let scope: String?
  /// In seconds since the reference date.
  let acceptedAt: Double
  var attempts: Int
  var isSetAside: Bool
  /// JSON, as text.
  let arguments: String

  /// Decodes a stored entry.
  ///
  /// - Throws: An error if the bytes are not an entry, or have an unknown format.
  static func read(_ bytes: [UInt8]) throws -> Self {
    let record = try StorageCoding.decode(Self.self, from: bytes)
    guard record.format == Self.currentFormat else { throw DropReason.format }
    return record
  }
}
