/// The stored form of a journal entry.
struct JournalRecord: Codable, Sendable {
  static let currentFormat = 1

  var format = Self.currentFormat
  var id: String
  let name: String
  /// The text of the scope's name.
  let scope: String?
  /// In seconds since the reference date.
  let acceptedAt: Double
  /// How many bodies have begun.
  var attempts: Int
  var isDeadLetter: Bool
  /// What the coder of the mutation has returned, if it is text.
  var arguments: String
  /// How many of the calls have failed or ended the process; nil in entries of older versions, which counted attempts.
  var failures: Int?
  /// Whether a body has begun and has not ended.
  var isBegun: Bool?
  /// The journal that has accepted the call; nil in entries of older versions and of storages without leases.
  var owner: String?
  /// What the call is about, for calls that can be replaced; nil for others.
  var mergeKey: String?
  /// When the call expires, in seconds since the reference date; nil for never.
  var expiresAt: Double?
  /// How long after its acceptance the call expires, in seconds.
  var lifetime: Double?
  /// The arguments in Base64, if they are no text; nil otherwise.
  var argumentBytes: String?
  /// The version of the arguments; nil for 1.
  var version: Int?
  /// Why the call is set aside, if it is no dead letter: the text of an ``Aside``. Versions that do not know it take it
  /// for a dead letter.
  var aside: String?

  /// The version that the call is based on; nil if its caller has named none.
  var base: String?
  /// How many times its arguments were replaced after a conflict; nil for never.
  var revision: Int?
  /// What the server had when a conflict was found, as text or in Base64; nil unless the call is in conflict.
  var current: String?
  var currentBytes: String?
  /// Whether calls of its scope wait until a conflict has ended.
  var holdsScope: Bool?

  enum Aside: String {
    case expired
    case conflicted
  }

  /// What a later version of the library has stored besides; nil for nothing.
  var unknown: UnknownMembers?

  private enum CodingKeys: String, CodingKey {
    case format, id, name, scope, acceptedAt, attempts, arguments, failures, isBegun, owner, mergeKey, expiresAt
    case lifetime, aside, argumentBytes, version, base, revision, current, currentBytes, holdsScope
    // The stored name is older than the property's.
    case isDeadLetter = "isSetAside"
  }

  /// Decodes a stored entry.
  ///
  /// - Throws: An error if the bytes are not an entry, or have an unknown format.
  static func read(_ bytes: [UInt8]) throws -> Self {
    let record = try StorageCoding.decode(WholeRecord.self, from: bytes).record
    guard record.format == Self.currentFormat else { throw DropReason.format }
    return record
  }

  /// The bytes of a stored entry.
  ///
  /// - Throws: The error of the encoding.
  func write() throws -> [UInt8] {
    self.unknown == nil ? try StorageCoding.encode(self) : try StorageCoding.encode(WholeRecord(record: self))
  }

  /// An entry with the members that are not known.
  private struct WholeRecord: Codable {
    var record: JournalRecord

    init(record: JournalRecord) { self.record = record }

    init(from decoder: any Decoder) throws {
      self.record = try JournalRecord(from: decoder)
      let unknown = try UnknownMembers(from: decoder) { CodingKeys(stringValue: $0) != nil }
      if !unknown.isEmpty { self.record.unknown = unknown }
    }

    func encode(to encoder: any Encoder) throws {
      try self.record.encode(to: encoder)
      try self.record.unknown?.encode(to: encoder)
    }
  }

  /// The entry when no process makes its call: a body that has not ended has ended the process.
  var afterProcess: Self {
    var record = self
    record.failures = (self.failures ?? self.attempts) + (self.isBegun == true ? 1 : 0)
    record.isBegun = false
    return record
  }

  /// Why the call is set aside; nil if it is a dead letter, or not set aside.
  var status: Aside? { self.aside.flatMap { Aside(rawValue: $0) } }

  mutating func setAside(as aside: Aside?, _ conflict: StoredConflict? = nil) {
    self.isDeadLetter = true
    self.aside = aside?.rawValue
    self.current = conflict?.current.text
    self.currentBytes = conflict?.current.base64
    self.holdsScope = conflict?.holdsScope == true ? true : nil
  }

  /// Makes the call one that waits.
  mutating func takeBack() {
    self.isDeadLetter = false
    self.aside = nil
    self.current = nil
    self.currentBytes = nil
    self.holdsScope = nil
  }

  mutating func revise(_ revision: JournalRevision) {
    self.storedArguments = revision.arguments
    self.version = revision.version == 1 ? nil : revision.version
    self.base = revision.base
    self.revision = revision.number
  }

  /// The key of the call for the server. A call with other arguments is another request.
  var key: String { Self.key(self.id, revision: self.revision ?? 0) }

  static func key(_ id: String, revision: Int) -> String { revision == 0 ? id : "\(id)~\(revision)" }

  /// Whether calls of its scope wait for the user's decision about it.
  var isHolding: Bool { self.isDeadLetter && self.holdsScope == true }

  var storedCurrent: StoredBytes? { self.current.map { StoredBytes(text: $0, base64: self.currentBytes) } }

  var storedArguments: StoredBytes {
    get { StoredBytes(text: self.arguments, base64: self.argumentBytes) }
    set {
      self.arguments = newValue.text
      self.argumentBytes = newValue.base64
    }
  }

  var failureCount: Int {
    get { self.failures ?? 0 }
    set { self.failures = newValue }
  }
}
