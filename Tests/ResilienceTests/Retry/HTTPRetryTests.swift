import FoundationEssentials
import OperationCore
import OperationRetry
import TestFixtures
import Testing

@Suite(.bounded) struct HTTPRetryTests {
  private let now = Date(timeIntervalSince1970: 784_111_777 - 90)  // 90 seconds before the date of the RFC.

  @Test(arguments: [
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    "  Sun, 06 Nov 1994 08:49:37 GMT  ", "90", " 90 ", "90.0",
  ])
  func `Seconds and dates in all formats are understood`(header: String) {
    expect(OperationDuration(httpRetryAfter: header, now: self.now), equals: .seconds(90))
  }

  @Test(arguments: ["-5", "0", "Sat, 05 Nov 1994 08:49:37 GMT", "Thu, 01 Jan 1970 00:00:00 GMT"])
  func `Dates in the past and negative numbers are zero`(header: String) {
    expect(OperationDuration(httpRetryAfter: header, now: self.now), equals: .zero)
  }

  @Test(arguments: [
    "", " ", "soon", "nan", "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET",
    "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
    "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
    "Sun, 06 Nov 99999999999999999999 08:49:37 GMT", "Sun, ٠٦ Nov 1994 08:49:37 GMT",
    "0x10", "Thu, 31 Nov 1994 08:49:37 GMT", "Mon, 30 Feb 2026 00:00:00 GMT", "Tue, 29 Feb 2100 00:00:00 GMT",
    "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT GMT", "inf", "-inf", "infinity", "Infinity",
    "1e400",
    "-1e400", "5\0", "\u{0}5", "5\0 ", "Sun, 06 Nov 1994 08:49:37 GMT\0", "snan", "nan(1)", "5 6", "٥", "0x1p3",
  ])
  func `A malformed header is ignored`(header: String) {
    expect(OperationDuration(httpRetryAfter: header, now: self.now), equals: nil)
    expect(RetryClassification(httpStatus: 503, retryAfter: header, now: self.now), equals: .retry)
  }

  @Test(arguments: ["1e300", "99999999999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"])
  func `A huge header is clamped`(header: String) {
    expect(OperationDuration(httpRetryAfter: header, now: self.now), equals: .seconds(100 * 365 * 86_400))
  }

  @Test func `Leap years and centuries are counted`() {
    for (header, seconds) in [
      ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000.0), ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400),
      ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400), ("Monday, 01-Jan-69 00:00:00 GMT", 3_124_224_000),
    ] {
      let now = Date(timeIntervalSince1970: seconds - 10)
      expect(OperationDuration(httpRetryAfter: header, now: now), equals: .seconds(10))
    }
  }

  @Test(arguments: [
    ("Thursday, 06-Nov-69 08:49:37 GMT", 784_111_687.0, 0.0),  // In 1994, 2069 is too far in the future.
    ("Wednesday, 06-Nov-30 08:49:37 GMT", 784_111_687, 1_136_073_690),  // But 2030 is not.
    ("Wednesday, 06-Nov-69 08:49:37 GMT", 1_762_400_000, 1_388_553_377),  // In 2025, 2069 is not.
    ("Sunday, 06-Nov-94 08:49:37 GMT", 1_762_400_000, 0),
    ("Friday, 06-Nov-99 08:49:37 GMT", 4_102_444_800, 0),  // In 2100.
    ("Saturday, 01-Jan-00 00:00:10 GMT", 4_102_444_795, 15),
    ("Tuesday, 29-Feb-00 00:00:00 GMT", 4_000_000_000, 0),  // 2100 is no leap year, 2000 is.
    ("Sunday, 06-Nov-94 08:49:37 GMT", -.infinity, 0), ("Sunday, 06-Nov-94 08:49:37 GMT", .infinity, 0),
  ])
  func `A year of two digits is at most fifty years in the future`(header: String, now: Double, seconds: Double) {
    let delay = OperationDuration(httpRetryAfter: header, now: Date(timeIntervalSince1970: now))
    if now.isFinite {
      expect(delay, equals: .seconds(seconds))
    } else {
      #expect(delay.map { $0 >= .zero } ?? true)
    }
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `Dates are read in each format, and whatever is changed in them, no delay is out of range`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let limit = Duration.seconds(100 * 365 * 86_400)
    let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
    for _ in 0..<200 {
      let date = Date(timeIntervalSince1970: Double(Int.random(in: 0..<4_000_000_000, using: &generator)))
      let now = date - Double(Int.random(in: 0..<1_000_000_000, using: &generator))
      let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: date)
      let values = [parts.day, parts.hour, parts.minute, parts.second].map { number in
        let text = String(number ?? 0)
        return text.count == 1 ? "0" + text : text
      }
      let (month, year) = (names[(parts.month ?? 1) - 1], String(parts.year ?? 0))
      let time = values[1...].joined(separator: ":")
      let headers = [
        "Sun, \(values[0]) \(month) \(year) \(time) GMT", "Sunday, \(values[0])-\(month)-\(year.suffix(2)) \(time) GMT",
        "Sun \(month) \(parts.day ?? 0) \(time) \(year)",
      ]
      for header in headers {
        expect(OperationDuration(httpRetryAfter: header, now: now), equals: .seconds(date.timeIntervalSince(now)))
        var characters = Array(header)
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
          let index = Int.random(in: characters.indices, using: &generator)
          let replacement = "\0 0123456789-+.,:eExinfGMTé٣\t".randomElement(using: &generator)
          switch Int.random(in: 0..<3, using: &generator) {
          case 0: characters.remove(at: index)
          case 1: characters[index] = replacement ?? "?"
          default: characters.insert(replacement ?? "?", at: index)
          }
        }
        let delay = OperationDuration(httpRetryAfter: String(characters), now: now)
        #expect(delay.map { $0 >= .zero && $0 <= limit } ?? true)
      }
    }
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `A header of random characters is a finite number, or ignored`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let limit = Duration.seconds(100 * 365 * 86_400)
    for _ in 0..<500 {
      let count = Int.random(in: 0..<12, using: &generator)
      let text = String((0..<count).compactMap { _ in "0123456789+-.eE \t\0xpinfa".randomElement(using: &generator) })
      guard let delay = OperationDuration(httpRetryAfter: text, now: self.now) else { continue }
      #expect(delay >= .zero && delay <= limit)
      #expect(text.contains { $0.isNumber })
      #expect(!text.contains { "\0xpinfa".contains($0) }, "\(text)")
    }
  }

  @Test func `Status codes allow another attempt, or do not`() {
    for status in [408, 425, 429, 500, 502, 503, 504] {
      expect(RetryClassification(httpStatus: status), equals: .retry)
      expect(RetryClassification(httpStatus: status, retryAfter: "5"), equals: .retryAfter(.seconds(5)))
    }
    for status in [200, 301, 400, 401, 403, 404, 409, 410, 422, 501, 505, -1, .max] {
      expect(RetryClassification(httpStatus: status, retryAfter: "5"), equals: .never)
    }
  }
}
