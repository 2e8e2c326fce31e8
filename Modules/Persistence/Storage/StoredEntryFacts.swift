package import OperationFoundation

/// What an entry of a storage is, as far as it says so without the program that has stored it.
package struct StoredEntryFacts: Sendable {
  /// The kinds of entries.
  package enum Kind: String, Sendable {
    case value
    case call
    case attempts = "attempts of a call"
    case schedule
    case sealedValue = "sealed value"
    case sealedCall = "sealed call"
    case sealed
    case other
  }

  package let key: String
  package let kind: Kind
  /// The number of bytes that are stored.
  package let size: Int
  /// The name of the value or of the mutation; nil if the entry is sealed or cannot be read.
  package private(set) var name: String?
  /// The path of a value or the scope of a call, its elements with slashes between them.
  package private(set) var path: String?
  /// The version of the value or of the arguments.
  package private(set) var version: Int?
  /// When the value was last set, or the call accepted or scheduled.
  package private(set) var date: Date?
  /// The idempotency key of a call, or what those of the calls of a schedule begin with.
  package private(set) var id: String?
  /// The schedule, or that of a call.
  package private(set) var schedule: String?
  /// The time of the next call of a schedule, or of a call of one.
  package private(set) var dueAt: Date?
  /// The time from one call of a schedule to the next; nil for a single one.
  package private(set) var interval: Duration?
  /// What became of a call.
  package private(set) var status: JournalEntry.Status?
  package private(set) var attempts: Int?
  /// What the coder has returned for the value or for the arguments.
  package private(set) var content: [UInt8]
  /// Whether it was stored in a form that this version of the library reads, or is sealed.
  package private(set) var isReadable = true

  package init(_ entry: StorageEntry) {
    self.key = entry.key
    self.size = entry.value.count
    self.content = entry.value
    switch entry.key.utf8 {
    case let key where key.starts(with: StorageKey.values.utf8):
      self.kind = .value
      self.readValue(entry.value)
    case let key where key.starts(with: StorageKey.schedules.utf8):
      self.kind = .schedule
      self.readSchedule(entry.value)
    case let key where key.starts(with: StorageKey.journal.utf8):
      self.kind = .call
      self.readCall(entry.value)
    case let key where key.starts(with: StorageKey.attempts.utf8): self.kind = .attempts
    case let key where key.starts(with: SealedPlace.root.utf8):
      switch SealedPlace.parts(of: entry.key)?.kind {
      case .value: self.kind = .sealedValue
      case .journal: self.kind = .sealedCall
      case .other, nil: self.kind = .sealed
      }
    default: self.kind = .other
    }
  }

  private mutating func readValue(_ bytes: [UInt8]) {
    let text = self.key.utf8.dropFirst(StorageKey.values.utf8.count)
    // The last element is the name, between two equals signs.
    let parts = text.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    if let last = parts.last, last.first == UInt8(ascii: "="), last.last == UInt8(ascii: "="), last.count > 1 {
      self.name = StorageKey.unescaped(last.dropFirst().dropLast())
      self.path = StorageKey.readablePath(String(Substring(text.prefix(text.count - last.count))))
    }
    guard let header = Envelope.header(of: bytes) else {
      self.isReadable = false
      return
    }
    self.version = header.version
    self.content = Array(bytes[header.end...])
    struct Dated: Decodable {
      let valueLastUpdatedAt: Date
    }
    self.date = (try? StorageCoding.decode(Dated.self, from: self.content))?.valueLastUpdatedAt
  }

  private mutating func readCall(_ bytes: [UInt8]) {
    guard let record = try? JournalRecord.read(bytes) else {
      self.status = .unreadable
      self.isReadable = false
      return
    }
    self.id = record.id
    self.name = record.name
    self.path = record.scope.map { StorageKey.readablePath($0) }
    self.version = record.version ?? 1
    self.date = Date(timeIntervalSinceReferenceDate: record.acceptedAt)
    self.status = record.isDeadLetter ? (record.status == .expired ? .expired : .deadLetter) : .waiting
    self.attempts = record.attempts
    self.schedule = record.schedule
    self.dueAt = record.dueAt.map { Date(timeIntervalSinceReferenceDate: $0) }
    self.content = record.storedArguments.bytes
  }

  private mutating func readSchedule(_ bytes: [UInt8]) {
    guard let record = try? ScheduleRecord.read(bytes) else {
      self.status = .unreadable
      self.isReadable = false
      return
    }
    self.id = record.id
    self.name = record.call
    self.path = record.scope.map { StorageKey.readablePath($0) }
    self.version = record.version ?? 1
    self.date = Date(timeIntervalSinceReferenceDate: record.scheduledAt)
    self.status = .scheduled
    self.schedule = record.name
    self.dueAt = Date(timeIntervalSinceReferenceDate: record.time(of: record.next))
    self.interval = record.interval.map { .seconds($0) }
    self.content = record.storedArguments.bytes
  }
}
