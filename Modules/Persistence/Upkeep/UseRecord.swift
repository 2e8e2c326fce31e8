internal import OperationFoundation

/// What is known of a stored value besides its bytes: an entry beside it, which needs no change of the value's own form.
///
/// It is written with the value where the value may become too old or there are limits. Its text is
/// `use1 <used> <dated> <age> <checksum>`: seconds since the reference date and of the maximum age, `-` where there are
/// none, and the checksum of the value's bytes, because a program without this entry may have replaced the value.
struct UseRecord: Hashable, Sendable {
  /// When the value was used last, in seconds since the reference date.
  var used: Int64
  /// When the value was set.
  var dated: Int64?
  /// How old the value may become.
  var maximumAge: Int64?
  /// The checksum of the value's bytes; nil if they were never seen.
  var checksum: UInt64?

  /// Whether the value is too old.
  ///
  /// - Parameters:
  ///   - now: The time, in seconds since the reference date.
  ///   - defaultAge: How old it may become if it does not say so itself; nil for any age.
  /// - Returns: False if it is not known when the value was set, and while the clock is behind that.
  func isExpired(at now: Int64, defaultAge: Int64?) -> Bool {
    guard let dated, let maximumAge = self.maximumAge ?? defaultAge else { return false }
    let (end, isEndless) = dated.addingReportingOverflow(maximumAge)
    return !isEndless && now > end
  }

  /// Whole seconds since the reference date, rounded up; nil for a date that is not finite or not within 64 bits.
  static func seconds(_ date: Date) -> Int64? { self.seconds(date.timeIntervalSinceReferenceDate) }

  /// Whole seconds, rounded up; nil for a number that is not finite or not within 64 bits.
  static func seconds(_ seconds: Double) -> Int64? { Int64(exactly: seconds.rounded(.up)) }

  /// FNV-1a in 64 bits.
  static func checksum(of bytes: [UInt8]) -> UInt64 { StorageVersion.hash(bytes) }
}

extension UseRecord {
  private static let format = "use1"

  var bytes: [UInt8] {
    func text(_ number: (some BinaryInteger)?) -> String { number.map { String($0) } ?? "-" }
    return Array(
      "\(Self.format) \(self.used) \(text(self.dated)) \(text(self.maximumAge)) \(text(self.checksum))".utf8
    )
  }

  /// Reads a record; nil if it is damaged or of a later version of the library.
  init?(_ bytes: [UInt8]) {
    let words = String(decoding: bytes, as: UTF8.self).split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 5, words[0] == Self.format, let used = Int64(words[1]) else { return nil }
    self.used = used
    self.dated = Int64(words[2])
    self.maximumAge = Int64(words[3])
    self.checksum = UInt64(words[4])
  }
}

extension StorageKey {
  /// The prefix of the keys of ``UseRecord``s. What follows it is the key of the value without its prefix.
  static let uses = "use/"

  /// The key, or the prefix of the keys, of the records of values.
  static func use(ofValue key: String) -> String { self.uses + key.dropFirst(self.values.count) }

  /// The key of the value of a record.
  static func value(ofUse key: String) -> String { self.values + key.dropFirst(self.uses.count) }

  /// The name of a value in its key, as it is written there; nil if it has none.
  static func escapedName(ofValue key: String) -> Substring? {
    guard key.utf8.last == UInt8(ascii: "=") else { return nil }
    let text = key.dropLast()
    return text.lastIndex(of: "=").map { text[text.index(after: $0)...] }
  }
}
