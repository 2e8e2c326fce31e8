/// Reads a journal entry as this library writes it, without a decoder, which takes about twenty times as long.
///
/// What looks different, such as members of a later version of the library, is left to the decoder, which decodes or refuses
/// the whole entry.
struct JournalRecordReader {
  private var format: Int?
  private var id: String?
  private var name: String?
  private var scope: String?
  private var acceptedAt: Double?
  private var attempts: Int?
  private var isDeadLetter: Bool?
  private var arguments: String?
  private var failures: Int?
  private var isBegun: Bool?
  private var owner: String?
  private var mergeKey: String?
  private var expiresAt: Double?
  private var lifetime: Double?
  private var argumentBytes: String?
  private var version: Int?
  private var aside: String?
  private var base: String?
  private var revision: Int?
  private var current: String?
  private var currentBytes: String?
  private var holdsScope: Bool?
  private var retriedAt: Double?
  private var letsPass: Bool?
  private var wasSent: Bool?
  private var schedule: String?
  private var dueAt: Double?

  /// The record of an entry; nil if that needs the decoder, which also says what is wrong.
  static func record(_ bytes: [UInt8]) -> JournalRecord? {
    var reader = Self()
    guard bytes.withUnsafeBufferPointer({ reader.read(JSONMembers($0)) }) else { return nil }
    return reader.record
  }

  private mutating func read(_ members: JSONMembers) -> Bool {
    var members = members
    guard members.begin() else { return false }
    repeat {
      guard let name = members.key(), let range = members.value() else { return false }
      let text = UnsafeBufferPointer(rebasing: members.bytes[range])
      guard self.set(String(decoding: name, as: UTF8.self), text) else { return false }
    } while members.next()
    return members.isAtEnd
  }

  private mutating func set(_ name: String, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
    switch name {
    case "format": Self.set(&self.format, PlainText.integer(text))
    case "id": Self.set(&self.id, PlainText.string(text))
    case "name": Self.set(&self.name, PlainText.string(text))
    case "scope": Self.set(&self.scope, PlainText.string(text))
    case "acceptedAt": Self.set(&self.acceptedAt, PlainText.number(text))
    case "attempts": Self.set(&self.attempts, PlainText.integer(text))
    case "isSetAside": Self.set(&self.isDeadLetter, PlainText.bool(text))
    case "arguments": Self.set(&self.arguments, PlainText.string(text))
    case "failures": Self.set(&self.failures, PlainText.integer(text))
    case "isBegun": Self.set(&self.isBegun, PlainText.bool(text))
    case "owner": Self.set(&self.owner, PlainText.string(text))
    case "mergeKey": Self.set(&self.mergeKey, PlainText.string(text))
    case "expiresAt": Self.set(&self.expiresAt, PlainText.number(text))
    case "lifetime": Self.set(&self.lifetime, PlainText.number(text))
    case "argumentBytes": Self.set(&self.argumentBytes, PlainText.string(text))
    case "version": Self.set(&self.version, PlainText.integer(text))
    case "aside": Self.set(&self.aside, PlainText.string(text))
    case "base": Self.set(&self.base, PlainText.string(text))
    case "revision": Self.set(&self.revision, PlainText.integer(text))
    case "current": Self.set(&self.current, PlainText.string(text))
    case "currentBytes": Self.set(&self.currentBytes, PlainText.string(text))
    case "holdsScope": Self.set(&self.holdsScope, PlainText.bool(text))
    case "retriedAt": Self.set(&self.retriedAt, PlainText.number(text))
    case "letsPass": Self.set(&self.letsPass, PlainText.bool(text))
    case "wasSent": Self.set(&self.wasSent, PlainText.bool(text))
    case "schedule": Self.set(&self.schedule, PlainText.string(text))
    case "dueAt": Self.set(&self.dueAt, PlainText.number(text))
    default: false
    }
  }

  /// Sets a member that is there once. Returns false for others, and for a null.
  private static func set<Value>(_ member: inout Value?, _ value: Value?) -> Bool {
    guard member == nil, let value else { return false }
    member = value
    return true
  }

  private var record: JournalRecord? {
    guard self.format == JournalRecord.currentFormat, let id, let name, let acceptedAt, let attempts, let isDeadLetter,
      let arguments
    else { return nil }
    return JournalRecord(
      id: id,
      name: name,
      scope: self.scope,
      acceptedAt: acceptedAt,
      attempts: attempts,
      isDeadLetter: isDeadLetter,
      arguments: arguments,
      failures: self.failures,
      isBegun: self.isBegun,
      owner: self.owner,
      mergeKey: self.mergeKey,
      expiresAt: self.expiresAt,
      lifetime: self.lifetime,
      argumentBytes: self.argumentBytes,
      version: self.version,
      aside: self.aside,
      base: self.base,
      revision: self.revision,
      current: self.current,
      currentBytes: self.currentBytes,
      holdsScope: self.holdsScope,
      retriedAt: self.retriedAt,
      letsPass: self.letsPass,
      wasSent: self.wasSent,
      schedule: self.schedule,
      dueAt: self.dueAt
    )
  }
}
