/// The stored form of a journal entry.
struct JournalRecord: StoredRecord, Equatable, Sendable {
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
  /// The result of the mutation's coder, if it is text.
  var arguments: String
  /// How many times the call has failed or ended the process; nil in entries of older versions, which counted attempts.
  var failures: Int?
  /// Whether a body has begun and not ended.
  var isBegun: Bool?
  /// The journal that has accepted the call; nil in entries of older versions, and in storages without leases.
  var owner: String?
  /// The subject of a call that can be replaced; nil for other calls.
  var mergeKey: String?
  /// When the call expires, in seconds since the reference date; nil for never.
  var expiresAt: Double?
  /// How long after its acceptance the call expires, in seconds.
  var lifetime: Double?
  /// The arguments in Base64, if they are not text; nil otherwise.
  var argumentBytes: String?
  /// The version of the arguments; nil for 1.
  var version: Int?
  /// Why the call is not made, as the text of an ``Aside``; nil for a dead letter. Older versions of the library take
  /// every such call for a dead letter.
  var aside: String?

  /// The version that the call is based on; nil if its caller has named none.
  var base: String?
  /// How many times its arguments were replaced after a conflict; nil for never.
  var revision: Int?
  /// The data of the server when a conflict was found, as text or in Base64; nil unless the call is in conflict.
  var current: String?
  var currentBytes: String?
  /// Whether calls of its scope wait until the user has decided about it.
  var holdsScope: Bool?
  /// When it was last made again by hand, in seconds since the reference date; nil for never.
  var retriedAt: Double?
  /// Whether later calls of its scope are made once it is a dead letter; nil for no.
  var letsPass: Bool?
  /// Whether a body may have begun before it was made again by hand, which counts the attempts anew; nil if it was not, or if an
  /// older version of the library has noted that.
  var wasSent: Bool?

  /// The name of its schedule; nil for a call of a caller.
  var schedule: String?
  /// The time that it is made for, in seconds since the reference date; nil for a call of a caller.
  var dueAt: Double?

  enum Aside: String {
    case expired
    case conflicted
  }

  /// The members that a later version of the library has stored; nil for none.
  var unknown: UnknownMembers?

  private enum CodingKeys: String, CodingKey {
    case format, id, name, scope, acceptedAt, attempts, arguments, failures, isBegun, owner, mergeKey, expiresAt
    case lifetime, aside, argumentBytes, version, base, revision, current, currentBytes, holdsScope
    case retriedAt, letsPass, wasSent, schedule, dueAt
    // The name in the stored form is older than the name of the property.
    case isDeadLetter = "isSetAside"
  }

  /// Decodes a stored entry.
  ///
  /// - Throws: An error if the bytes are not an entry, or have an unknown format.
  static func read(_ bytes: [UInt8]) throws -> Self {
    if let record = JournalRecordReader.record(bytes) { return record }
    let record = try self.decode(bytes)
    guard record.format == Self.currentFormat else { throw DropReason.format }
    return record
  }

  static func knows(_ member: String) -> Bool { CodingKeys(stringValue: member) != nil }

  /// The entry once no process makes its call: if a body has begun and not ended, the process has ended during it.
  var afterProcess: Self {
    var record = self
    record.failures = (self.failures ?? self.attempts) + (self.isBegun == true ? 1 : 0)
    record.isBegun = false
    return record
  }

  /// Why the call is not made before the user acts; nil for a dead letter, and for a call that is made.
  var status: Aside? { self.aside.flatMap { Aside(rawValue: $0) } }

  mutating func setAside(as aside: Aside?, _ conflict: StoredConflict? = nil) {
    self.isDeadLetter = true
    self.aside = aside?.rawValue
    self.current = conflict?.current.text
    self.currentBytes = conflict?.current.base64
    self.holdsScope = self.holdsScope(as: aside, conflict) ? true : nil
  }

  /// Whether later calls of its scope wait for the user if it is set aside.
  ///
  /// They may build on a call that was sent, or that should have been. A call that has expired and was never sent is
  /// taken for one that was never made.
  private func holdsScope(as aside: Aside?, _ conflict: StoredConflict?) -> Bool {
    guard self.scope != nil else { return false }
    switch aside {
    case .conflicted: return conflict?.holdsScope == true
    case .expired: return self.letsPass != true && self.mayHaveBeenSent
    case nil: return self.letsPass != true
    }
  }

  /// Whether a body may have begun since the call was accepted, so that the server may have the request.
  var mayHaveBeenSent: Bool { self.attempts > 0 || self.wasSent ?? (self.retriedAt != nil) }

  /// Counts attempts and failures from zero, for a call that is made again by hand.
  mutating func countAnew() {
    self.wasSent = self.mayHaveBeenSent
    self.attempts = 0
    self.failures = 0
  }

  /// Makes the call wait for its turn.
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

  /// Whether the server gets the same for both records.
  func isSameRequest(as other: Self) -> Bool {
    self.key == other.key && self.storedArguments == other.storedArguments && self.version == other.version
      && self.base == other.base
  }

  static func key(_ id: String, revision: Int) -> String { revision == 0 ? id : "\(id)~\(revision)" }

  /// Whether later calls of its scope wait until the user has decided about it.
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
