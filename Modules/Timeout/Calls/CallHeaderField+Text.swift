internal import OperationCore
internal import OperationFoundation

extension CallHeaderField {
  /// The value of the field for a deadline.
  ///
  /// - Parameters:
  ///   - remaining: The time that is left, at least zero.
  ///   - now: The current date.
  /// - Returns: The value.
  func text(for remaining: Duration, now: Date) -> String {
    switch self.kind {
    case .grpc: remaining.grpcTimeout
    case .milliseconds: "\(remaining.milliseconds)"
    case .date: (now + remaining.seconds).formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
  }

  /// The time that is left by a value of the field; nil if the value is malformed.
  func remaining(in text: String, now: Date) -> Duration? {
    let text = text.trimmed
    switch self.kind {
    case .grpc: return Duration(grpcTimeout: text)
    case .milliseconds: return text.digits(atMost: 18).map { .milliseconds($0) }
    case .date:
      let seconds: Double
      if let milliseconds = text.digits(atMost: 18) {
        seconds = Double(milliseconds) / 1_000 - now.timeIntervalSince1970
      } else if let date = text.rfc3339Date {
        seconds = date.timeIntervalSince(now)
      } else {
        return nil
      }
      return .seconds(min(max(seconds, 0), Self.longest / .seconds(1)))
    }
  }

  /// A hundred years, within which a duration in seconds is exact.
  private static let longest = Duration.seconds(100 * 365 * 86_400)
}

extension Duration {
  /// The whole milliseconds of a duration that is at least zero.
  ///
  /// Rounded up: a caller must not be given less time than it has.
  fileprivate var milliseconds: Int64 { self.rounded(upTo: .milliseconds(1)) }

  private func rounded(upTo unit: Duration) -> Int64 {
    let (whole, rest) = self.attoseconds.quotientAndRemainder(dividingBy: unit.attoseconds)
    return Int64(clamping: rest > 0 ? whole + 1 : whole)
  }

  /// The units of `grpc-timeout`, from the finest.
  private static let grpcUnits: [(name: Character, length: Duration)] = [
    ("n", .nanoseconds(1)), ("u", .microseconds(1)), ("m", .milliseconds(1)), ("S", .seconds(1)), ("M", .seconds(60)),
    ("H", .seconds(3600)),
  ]

  /// The duration in the finest unit in which it has at most eight digits.
  fileprivate var grpcTimeout: String {
    for (name, length) in Self.grpcUnits {
      let count = self.rounded(upTo: length)
      if count <= 99_999_999 { return "\(count)\(name)" }
    }
    return "99999999H"
  }

  /// Reads a `grpc-timeout`; nil if it is malformed.
  fileprivate init?(grpcTimeout text: Substring) {
    guard let name = text.last, let unit = Self.grpcUnits.first(where: { $0.name == name }),
      let count = text.dropLast().digits(atMost: 8)
    else { return nil }
    self = unit.length * count
  }
}

extension StringProtocol {
  /// The number of one to `count` decimal digits; nil for anything else.
  func digits(atMost count: Int) -> Int64? {
    let digits = self.utf8
    let isDigit = { (byte: UInt8) in (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
    guard (1...count).contains(digits.count), digits.allSatisfy(isDigit) else { return nil }
    return Int64(self)
  }

  /// The text without blanks around it.
  var trimmed: SubSequence {
    let isBlank = { (character: Character) in character == " " || character == "\t" }
    guard let first = self.firstIndex(where: { !isBlank($0) }), let last = self.lastIndex(where: { !isBlank($0) })
    else { return self[self.endIndex...] }
    return self[first...last]
  }
}

extension Substring {
  /// The date in the format of [RFC 3339](https://www.rfc-editor.org/rfc/rfc3339), with or without a fraction.
  fileprivate var rfc3339Date: Date? {
    let text = String(self)
    // The parser takes the 30th of February for a day in March.
    let minute = "\(self.prefix(16)):00Z"
    guard (try? Date(minute, strategy: .iso8601))?.formatted(.iso8601) == minute else { return nil }
    return (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
      ?? (try? Date(text, strategy: .iso8601))
  }
}
