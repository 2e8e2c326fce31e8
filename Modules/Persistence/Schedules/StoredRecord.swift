/// The stored form of an entry, which keeps the members that a later version of the library has added.
protocol StoredRecord: Codable {
  /// The members that are not known; nil for none.
  var unknown: UnknownMembers? { get set }

  /// Whether this version of the library knows a member.
  static func knows(_ member: String) -> Bool
}

extension StoredRecord {
  /// Decodes a stored form, with the members that are not known.
  ///
  /// - Throws: The error of the decoder.
  static func decode(_ bytes: [UInt8]) throws -> Self {
    try StorageCoding.decode(WholeRecord<Self>.self, from: bytes).record
  }

  /// Encodes the stored form, with the members that are not known.
  ///
  /// - Throws: The error of the encoder.
  func encoded() throws -> [UInt8] {
    self.unknown == nil ? try StorageCoding.encode(self) : try StorageCoding.encode(WholeRecord(record: self))
  }
}

/// A stored form together with the members that are not known.
private struct WholeRecord<Record: StoredRecord>: Codable {
  var record: Record

  init(record: Record) { self.record = record }

  init(from decoder: any Decoder) throws {
    self.record = try Record(from: decoder)
    let unknown = try UnknownMembers(from: decoder) { Record.knows($0) }
    if !unknown.isEmpty { self.record.unknown = unknown }
  }

  func encode(to encoder: any Encoder) throws {
    try self.record.encode(to: encoder)
    try self.record.unknown?.encode(to: encoder)
  }
}
