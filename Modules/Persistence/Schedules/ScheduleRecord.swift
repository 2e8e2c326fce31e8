internal import OperationCore
internal import OperationFoundation

/// The stored form of scheduled work. Times are in seconds since the reference date.
struct ScheduleRecord: StoredRecord, Sendable {
  static let currentFormat = 1

  var format = Self.currentFormat
  /// The name that makes it unique.
  let name: String
  /// The beginning of the idempotency keys of its calls; the key itself if there is one call only.
  var id: String
  /// The name that the mutation is journaled as.
  var call: String
  /// The text of the name of the mutation's scope.
  var scope: String?
  /// The result of the mutation's coder, if it is text.
  var arguments: String
  /// The arguments in Base64, if they are not text; nil otherwise.
  var argumentBytes: String?
  /// The version of the arguments; nil for 1.
  var version: Int?
  /// When it was scheduled.
  var scheduledAt: Double
  /// The time with the number 0, from which the others are counted.
  var start: Double
  /// The seconds from one time to the next; nil for a single time.
  var interval: Double?
  /// The number of the next time.
  var next = 0
  /// What becomes of missed times, as the text of a ``JournalSchedule/MissedTimes/Kind``; nil for one call.
  var missed: String?
  /// How late a call may begin whose missed times are skipped, in seconds.
  var tolerance: Double?
  /// The longest time until the next call by any clock; nil for a time that was given as a date.
  var longestWait: Double?
  /// The key of the entry of its last call, and the key of that call; nil before the first one.
  var lastEntry: String?
  var lastCall: String?

  var unknown: UnknownMembers?

  private enum CodingKeys: String, CodingKey {
    case format, name, id, call, scope, arguments, argumentBytes, version, scheduledAt, start, interval, next, missed
    case tolerance, longestWait, lastEntry, lastCall
  }

  static func knows(_ member: String) -> Bool { CodingKeys(stringValue: member) != nil }

  /// Decodes a stored entry.
  ///
  /// - Throws: An error if the bytes are not an entry, or have an unknown format.
  static func read(_ bytes: [UInt8]) throws -> Self {
    let record = try self.decode(bytes)
    guard record.format == Self.currentFormat else { throw DropReason.format }
    // What follows counts with these.
    let isSound = record.interval.map { $0 >= 1 && $0.isFinite } ?? true
    guard isSound, record.start.isFinite, 0..<Self.maximumNumber ~= record.next else { throw DropReason.format }
    return record
  }

  var storedArguments: StoredBytes {
    get { StoredBytes(text: self.arguments, base64: self.argumentBytes) }
    set {
      self.arguments = newValue.text
      self.argumentBytes = newValue.base64
    }
  }

  var missedTimes: JournalSchedule.MissedTimes {
    get { JournalSchedule.MissedTimes(kind: self.missed.flatMap { .init(rawValue: $0) } ?? .once, self.tolerance) }
    set {
      self.missed = newValue.kind == .once ? nil : newValue.kind.rawValue
      self.tolerance = newValue.kind == .skip ? newValue.tolerance.seconds : nil
    }
  }
}

// MARK: - Times

extension ScheduleRecord {
  /// The largest number of missed times for which calls are made.
  static let maximumMissedTimes = 1_000

  /// No schedule has had so many times.
  private static let maximumNumber = 1_000_000_000_000_000

  /// Dates are rounded, so a time that is as close as this has come, in seconds.
  private static let precision = 0.001

  /// What is to be done at a time.
  enum Decision: Sendable {
    /// Nothing for so many seconds.
    case wait(Double)
    /// The call of the time with this number is made.
    case make(Int)
    /// The schedule is changed, and looked at again.
    case change(ScheduleRecord)
  }

  /// The time with a number.
  func time(of number: Int) -> Double { self.start + Double(number) * (self.interval ?? 0) }

  /// The key of the call for the time with a number.
  func key(of number: Int) -> String { self.interval == nil ? self.id : "\(self.id)#\(number)" }

  /// Decides what is to be done at a time, by the clock of the client.
  func decision(at date: Double) -> Decision {
    let rest = self.time(of: self.next) - date
    if rest > Self.precision {
      // The clock was set back.
      if let longestWait, rest > longestWait + 1 { return .change(self.moved(by: longestWait - rest)) }
      return .wait(rest)
    }
    guard self.interval != nil else { return .make(0) }
    let newest = self.newest(at: date)
    switch self.missedTimes.kind {
    case .once: return .make(newest)
    case .each: return .make(max(self.next, newest - Self.maximumMissedTimes + 1))
    case .skip:
      if date - self.time(of: newest) <= self.missedTimes.tolerance.seconds { return .make(newest) }
      var record = self
      record.next = newest + 1
      return .change(record)
    }
  }

  /// The number of the last time that has come, which is not before the next one.
  private func newest(at date: Double) -> Int {
    guard let interval, interval > 0 else { return self.next }
    let count = ((date - self.start + Self.precision) / interval).rounded(.down)
    return max(Int(min(max(count, 0), Double(Self.maximumNumber))), self.next)
  }

  private func moved(by seconds: Double) -> Self {
    var record = self
    record.start += seconds
    return record
  }

  /// Returns the schedule after a call was accepted; nil if that was the only one.
  ///
  /// - Parameters:
  ///   - number: The number of the time of the call.
  ///   - entry: The key of the entry of the call.
  /// - Returns: The schedule; nil if there is no further call.
  func following(_ number: Int, storedAs entry: String) -> Self? {
    guard let interval else { return nil }
    var record = self
    record.next = number + 1
    record.longestWait = interval
    record.lastEntry = entry
    record.lastCall = self.key(of: number)
    return record
  }
}

// MARK: - Scheduling again

extension ScheduleRecord {
  /// Returns what is stored if work is scheduled with the name of work that is scheduled already.
  ///
  /// - Parameters:
  ///   - present: What is scheduled; nil if nothing is.
  ///   - policy: The policy.
  ///   - hasStart: Whether the caller has given the first time of recurring work.
  /// - Returns: What to store; nil to leave what is stored.
  func replacing(
    _ present: Self?,
    _ policy: JournalSchedule.ExistingPolicy,
    hasStart: Bool
  ) -> Self? {
    guard let present else { return self }
    var record = self
    // Its calls must not overlap with the last one.
    record.lastEntry = present.lastEntry
    record.lastCall = present.lastCall
    switch policy.kind {
    case .keep: return nil
    case .replace: return record
    case .update:
      record.unknown = present.unknown
      guard self.interval == present.interval else { return record }
      if hasStart, self.start != present.start, present.next == 0 { return record }
      record.id = present.id
      record.scheduledAt = present.scheduledAt
      record.start = present.start
      record.next = present.next
      record.longestWait = present.longestWait
      return record.isSame(as: present) ? nil : record
    }
  }

  private func isSame(as other: Self) -> Bool {
    self.call == other.call && self.scope == other.scope && self.storedArguments == other.storedArguments
      && self.version == other.version && self.missed == other.missed && self.tolerance == other.tolerance
  }
}

extension StorageKey {
  /// The prefix of the keys of scheduled work. No call has such a key.
  ///
  /// It begins as the keys of calls do, so that an earlier version of the library keeps and reports such an entry, and
  /// removes it when a user signs out.
  static let schedules = Self.journal + "=schedule=/"

  /// The key of scheduled work with a name.
  static func schedule(named name: String) -> String { self.schedules + self.escaped(name) }

  static func isSchedule(_ key: String) -> Bool { key.utf8.starts(with: self.schedules.utf8) }
}
