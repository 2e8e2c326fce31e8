/// What identifies the stored content of a call: its entry, and the entry of its attempts if it has one.
struct CallVersion: Hashable, Sendable {
  let entry: StorageVersion
  /// Whether the entry is a long one, whose attempts are stored apart from it.
  let isLong: Bool
  /// The version of the entry of its attempts; nil if it has none.
  let attempts: StorageVersion?
  /// Whether the attempts name this entry. They do not if an earlier version of the library has replaced the entry alone, or if
  /// another process has replaced both after the entry was read and before the attempts were.
  let areAttemptsOwn: Bool

  /// The version of an entry.
  ///
  /// - Parameters:
  ///   - bytes: The bytes of the entry.
  ///   - key: Its key.
  ///   - attempts: The entry of its attempts; nil if it has none.
  init(of bytes: [UInt8], at key: String, attempts: StorageEntry? = nil) {
    let entry = StorageVersion(of: bytes, at: key)
    self.entry = entry
    self.isLong = Self.isLong(bytes)
    self.attempts = attempts?.version
    self.areAttemptsOwn = attempts.map { AttemptsRecord.read($0.value, of: entry) != nil } ?? true
  }

  /// The version of an entry with other attempts.
  init(_ earlier: Self, attempts: StorageVersion) {
    self.entry = earlier.entry
    self.isLong = earlier.isLong
    self.attempts = attempts
    self.areAttemptsOwn = true
  }

  /// Whether an entry is longer than about a page of a database.
  static func isLong(_ bytes: [UInt8]) -> Bool { bytes.count > 4_096 }
}

/// How often a call was made, stored apart from it.
///
/// An attempt of a call with long arguments would otherwise write all of them again, several times. Calls with short ones have
/// these numbers in their entries alone, and so has every call that was just accepted or set aside.
struct AttemptsRecord: StoredRecord, Sendable {
  static let currentFormat = 1

  var format = Self.currentFormat
  /// The version of the entry of the call. The numbers of another one are older than those in the entry.
  let entry: String
  let attempts: Int
  let failures: Int?
  let isBegun: Bool?
  var unknown: UnknownMembers?

  private enum CodingKeys: String, CodingKey {
    case format, entry, attempts, failures, isBegun
  }

  static func knows(_ member: String) -> Bool { CodingKeys(stringValue: member) != nil }

  init(_ record: JournalRecord, of entry: StorageVersion) {
    self.entry = Self.text(of: entry)
    self.attempts = record.attempts
    self.failures = record.failures
    self.isBegun = record.isBegun
  }

  private static func text(of version: StorageVersion) -> String { String(version.digest, radix: 16) }

  /// The numbers of an entry; nil if they cannot be read, or are of another one.
  static func read(_ bytes: [UInt8], of entry: StorageVersion) -> Self? {
    guard let numbers = try? Self.decode(bytes), numbers.format == Self.currentFormat,
      numbers.entry == Self.text(of: entry)
    else { return nil }
    return numbers
  }

  /// The record of a call with its present numbers. Without any of its own, they stay as they are in the entry.
  static func apply(_ bytes: [UInt8], to record: JournalRecord, of entry: StorageVersion) -> JournalRecord {
    guard let numbers = self.read(bytes, of: entry) else { return record }
    var record = record
    record.attempts = numbers.attempts
    record.failures = numbers.failures
    record.isBegun = numbers.isBegun
    return record
  }
}

extension StorageKey {
  /// The prefix of the keys of attempts.
  static let attempts = "journal-attempts/"

  /// The key of the attempts of a call with a key.
  static func attempts(ofCall key: String) -> String { self.attempts + key.dropFirst(self.journal.count) }

  /// The key of the call whose attempts have a key; nil for other keys.
  static func call(ofAttempts key: String) -> String? {
    key.utf8.starts(with: self.attempts.utf8) ? self.journal + key.dropFirst(self.attempts.count) : nil
  }
}

/// The entries of a journal, by what they are.
struct ReadEntries: Sendable {
  struct Call: Sendable {
    let key: String
    let version: CallVersion
    /// The content; nil if it is the one that this process knows.
    let record: Result<JournalRecord, any Error>?
  }

  /// The calls, and the entries that cannot be read.
  private(set) var calls: [Call] = []
  private(set) var schedules: [(key: String, version: StorageVersion, record: ScheduleRecord)] = []
  /// The keys of attempts without a call: an earlier version of the library has removed it.
  private(set) var orphans: [String] = []

  /// Reads entries.
  ///
  /// - Parameters:
  ///   - entries: The entries with the prefix of calls.
  ///   - attempts: Those with the prefix of attempts.
  ///   - known: The versions that this process has read or written last, by the keys.
  init(_ entries: [StorageEntry], attempts: [StorageEntry], known: [String: CallVersion] = [:]) {
    var attempts = Dictionary(attempts.map { ($0.key, $0) }, uniquingKeysWith: { $1 })
    self.calls.reserveCapacity(entries.count)
    for entry in entries {
      if StorageKey.isSchedule(entry.key) {
        do {
          self.schedules.append((entry.key, entry.version, try ScheduleRecord.read(entry.value)))
        } catch {
          let version = CallVersion(of: entry.value, at: entry.key)
          self.calls.append(Call(key: entry.key, version: version, record: .failure(error)))
        }
        continue
      }
      let numbers = attempts.isEmpty ? nil : attempts.removeValue(forKey: StorageKey.attempts(ofCall: entry.key))
      if let known = known[entry.key], known.entry == entry.version, known.attempts == numbers?.version {
        self.calls.append(Call(key: entry.key, version: known, record: nil))
        continue
      }
      let version = CallVersion(of: entry.value, at: entry.key, attempts: numbers)
      self.calls.append(Call(key: entry.key, version: version, record: Self.read(entry, version, numbers)))
    }
    self.orphans = Array(attempts.keys)
  }

  /// The calls as this process knows them.
  init(known: [String: CallVersion]) {
    self.calls = known.sorted { $0.key < $1.key }.map { Call(key: $0.key, version: $0.value, record: nil) }
  }

  static func read(
    _ entry: StorageEntry,
    _ version: CallVersion,
    _ attempts: StorageEntry?
  ) -> Result<JournalRecord, any Error> {
    Result {
      let record = try JournalRecord.read(entry.value)
      return attempts.map { AttemptsRecord.apply($0.value, to: record, of: version.entry) } ?? record
    }
  }
}

extension PersistentStorage {
  /// Reads all entries of a journal.
  ///
  /// - Parameter known: The versions that this process has read or written last, by the keys.
  /// - Returns: The entries.
  /// - Throws: The error of the storage.
  nonisolated(nonsending) func journalEntries(known: [String: CallVersion] = [:]) async throws -> ReadEntries {
    let entries = try await self.entries(withPrefix: StorageKey.journal)
    // Only long entries have any. They are read afterwards, because they name the entry that they belong to.
    let hasAttempts = entries.contains { CallVersion.isLong($0.value) }
    let attempts = hasAttempts ? try await self.entries(withPrefix: StorageKey.attempts) : []
    return ReadEntries(entries, attempts: attempts, known: known)
  }

  /// Reads the entry of a call, and that of its attempts.
  nonisolated(nonsending) func call(with key: String) async throws -> ReadEntry {
    let entry = try await self.entry(with: key)
    let isLong = entry.map { CallVersion.isLong($0.value) } ?? false
    return ReadEntry(entry, isLong ? try await self.entry(with: StorageKey.attempts(ofCall: key)) : nil, at: key)
  }
}
