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

  enum Aside: String {
    case expired
  }

  private enum CodingKeys: String, CodingKey {
    case format, id, name, scope, acceptedAt, attempts, arguments, failures, isBegun, owner, mergeKey, expiresAt
    case lifetime, aside, argumentBytes, version
    // The stored name is older than the property's.
    case isDeadLetter = "isSetAside"
  }

  /// Decodes a stored entry.
  ///
  /// - Throws: An error if the bytes are not an entry, or have an unknown format.
  static func read(_ bytes: [UInt8]) throws -> Self {
    let record = try StorageCoding.decode(Self.self, from: bytes)
    guard record.format == Self.currentFormat else { throw DropReason.format }
    return record
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

  mutating func setAside(as aside: Aside?) {
    self.isDeadLetter = true
    self.aside = aside?.rawValue
  }

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
