import OperationCore
import OperationFoundation
import OperationTesting
import TestFixtures
import Testing

@testable import OperationFreshness

/// What header fields say, by RFC 9111 and RFC 5861.
@Suite(.bounded, .warningsAreIssues) struct HTTPFreshnessTests {
  /// The date of `Sun, 06 Nov 1994 08:49:37 GMT`.
  private let origin = Date(timeIntervalSince1970: 784_111_777)

  private func freshness(_ fields: (String, String)..., isShared: Bool = false) -> OperationHTTPFreshness {
    OperationHTTPFreshness(headerFields: fields, isShared: isShared)
  }

  private func lifetime(_ directives: String..., isShared: Bool = false) -> Duration? {
    OperationHTTPFreshness(headerFields: directives.map { ("Cache-Control", $0) }, isShared: isShared)
      .lifetime(receivedAt: self.origin)
  }

  @Test func `max-age is the lifetime, whatever the case of names`() {
    expect(self.lifetime("max-age=60"), equals: .seconds(60))
    expect(self.lifetime("MAX-Age=60, Public"), equals: .seconds(60))
    expect(self.freshness(("CACHE-control", " \tmax-age=5 ")).lifetime(receivedAt: self.origin), equals: .seconds(5))
  }

  @Test func `Without max-age and Expires the lifetime is unknown`() {
    expect(self.lifetime(), equals: nil)
    expect(self.lifetime("public, must-understand, foo=bar"), equals: nil)
    expect(
      self.freshness(("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT")).lifetime(receivedAt: self.origin),
      equals: nil
    )
  }

  @Test func `Arguments may be quoted, and quotes hide commas`() {
    expect(self.lifetime(#"max-age="60""#), equals: .seconds(60))
    expect(self.lifetime(#"max-age="6\0""#), equals: .seconds(60))
    expect(self.lifetime(#"ext="a, max-age=1, b\", max-age=2", max-age=3"#), equals: .seconds(3))
  }

  @Test func `A quotation mark without a second one hides nothing`() {
    expect(self.lifetime(#"ext="a, no-store, max-age=60"#), equals: .zero)
    expect(self.lifetime(#"ext="a"#, #"no-store, ext="b"#), equals: .zero)
  }

  @Test(arguments: [
    "max-age", "max-age=", "max-age=-1", "max-age=+1", "max-age=1.5", "max-age= 60", "max-age=x", "max-age=６",
  ])
  func `An invalid max-age makes the response stale`(_ directive: String) {
    expect(self.lifetime(directive), equals: .zero)
  }

  @Test func `A number of seconds that is too large counts as the largest`() {
    let largest = Duration.seconds(2_147_483_648)
    expect(self.lifetime("max-age=2147483648"), equals: largest)
    expect(self.lifetime("max-age=99999999999999999999999999999999999999"), equals: largest)
    expect(self.freshness(("Age", "99999999999999999999")).age(receivedAt: self.origin), equals: largest)
  }

  @Test func `Of repeated directives the first counts, also in repeated fields`() {
    expect(self.lifetime("max-age=60, max-age=5"), equals: .seconds(60))
    expect(self.lifetime("max-age=60", "max-age=5"), equals: .seconds(60))
    expect(self.lifetime("public", "max-age=7"), equals: .seconds(7))
  }

  @Test func `Of directives that contradict each other the most restrictive counts`() {
    expect(self.lifetime("max-age=60, no-cache"), equals: .zero)
    expect(self.lifetime("no-store, max-age=60"), equals: .zero)
    expect(self.lifetime(#"no-cache="set-cookie", max-age=60"#), equals: .zero)
  }

  @Test func `s-maxage counts where the value is shared`() {
    expect(self.lifetime("max-age=60, s-maxage=10"), equals: .seconds(60))
    expect(self.lifetime("max-age=60, s-maxage=10", isShared: true), equals: .seconds(10))
    expect(self.lifetime("max-age=60, s-maxage=x", isShared: true), equals: .zero)
  }

  // RFC 9111, 5.2.2.7.
  @Test(arguments: ["private, max-age=60", "max-age=60, private=\"set-cookie\"", "s-maxage=60, Private"])
  func `A private response is not kept where the value is shared`(_ directives: String) {
    let fields = ("Cache-Control", "\(directives), stale-while-revalidate=30, stale-if-error=30")
    let shared = self.freshness(fields, ("ETag", "\"a\""), isShared: true)
    expect(shared.lifetime(receivedAt: self.origin), equals: .zero)
    #expect(shared.forbidsStorage && shared.forbidsStaleUse)
    #expect(shared.staleWhileRevalidate == nil && shared.staleIfError == nil)
    #expect(!self.freshness(fields).forbidsStorage)
    expect(self.lifetime("private, max-age=60"), equals: .seconds(60))
  }

  // RFC 9111, 3.5.
  @Test func `The answer to a request with Authorization is shared only where the server permits it`() {
    func forbids(_ directives: String?, isShared: Bool = true) -> Bool {
      let fields = directives.map { [("Cache-Control", $0)] } ?? []
      var freshness = OperationHTTPFreshness(headerFields: fields, isShared: isShared)
      freshness.isAuthorized = true
      return freshness.forbidsStorage
    }
    #expect(forbids("max-age=60") && forbids(nil))
    #expect(forbids("private, public"))
    for directives in ["public, max-age=60", "s-maxage=60", "max-age=60, must-revalidate"] {
      #expect(!forbids(directives), "\(directives)")
    }
    #expect(!forbids("max-age=60", isShared: false))
  }

  // RFC 9111, 4.1.
  @Test func `A response that varies with all is not used without asking`() {
    for value in ["*", "Accept, *"] {
      let freshness = self.freshness(("Vary", value), ("Cache-Control", "max-age=60, stale-if-error=9"))
      #expect(freshness.lifetime(receivedAt: self.origin) == .zero && freshness.forbidsStaleUse)
      #expect(!freshness.forbidsStorage)
    }
    let named = self.freshness(("Vary", "Accept"), ("Cache-Control", "max-age=60"))
    expect(named.lifetime(receivedAt: self.origin), equals: .seconds(60))
  }

  @Test func `What begins a line is never handed back`() {
    let hostile = [
      "Sun\r\nX-Evil:1, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT\r\nX-Evil: 1",
      "Sun, 06 Nov 1994\n08:49:37 GMT", "\u{0}, 06 Nov 1994 08:49:37 GMT",
    ]
    for text in hostile {
      expect(self.freshness(("Last-Modified", text)).validators, equals: nil, "\(text)")
      expect(self.freshness(("ETag", "\"\(text)\"")).validators, equals: nil, "\(text)")
      expect(self.freshness(("Expires", text)).lifetime(receivedAt: self.origin - 9), equals: .zero, "\(text)")
      expect(self.freshness(("Date", text)).age(receivedAt: self.origin + 9), equals: .zero, "\(text)")
    }
    let validators = OperationHTTPValidators(entityTag: "\"a\"\r\nX-Evil: 1", lastModified: "then")
    expect(validators?.headerFields.map(\.0), equals: ["If-Modified-Since"])
    expect(OperationHTTPValidators(entityTag: "\"\n\"", lastModified: "\r"), equals: nil)
  }

  @Test func `A date that is no number is ignored, and traps nowhere`() {
    let noDate = Date(timeIntervalSince1970: .nan)
    let freshness = self.freshness(
      ("Date", "Sun, 06 Nov 1994 08:49:37 GMT"),
      ("Expires", "Sun, 06 Nov 1994 08:50:37 GMT"),
      ("Age", "7")
    )
    #expect(freshness.lifetime(receivedAt: noDate) == .seconds(60) && freshness.age(receivedAt: noDate) == .seconds(7))
    expect(self.freshness(("Expires", "Sun, 06 Nov 1994 08:50:37 GMT")).lifetime(receivedAt: noDate), equals: .zero)
    let short = OperationHTTPFreshness(
      headerFields: [("Date", "Sunday, 06-Nov-94 08:49:37 GMT")],
      isShared: false,
      now: .nan
    )
    expect(short.age(receivedAt: self.origin + 9), equals: .zero)
  }

  // RFC 9111, 4.2.1.
  @Test func `Expires is relative to the date of the response, and max-age comes before it`() {
    let date = ("Date", "Sun, 06 Nov 1994 08:49:37 GMT")
    let expires = ("Expires", "Sun, 06 Nov 1994 08:50:37 GMT")
    expect(self.freshness(date, expires).lifetime(receivedAt: .distantFuture), equals: .seconds(60))
    expect(
      self.freshness(date, expires, ("Cache-Control", "max-age=5")).lifetime(receivedAt: self.origin),
      equals: .seconds(5)
    )
    expect(self.freshness(expires).lifetime(receivedAt: self.origin + 20), equals: .seconds(40))
    expect(self.freshness(expires).lifetime(receivedAt: self.origin + 100), equals: .zero)
  }

  @Test func `All three formats of dates are read`() {
    let formats = ["Sun, 06 Nov 1994 08:50:37 GMT", "Sunday, 06-Nov-94 08:50:37 GMT", "Sun Nov  6 08:50:37 1994"]
    for format in formats {
      let freshness = OperationHTTPFreshness(
        headerFields: [("Date", "Sun, 06 Nov 1994 08:49:37 GMT"), ("Expires", format)],
        isShared: false,
        now: 784_111_777
      )
      expect(freshness.lifetime(receivedAt: self.origin), equals: .seconds(60), "\(format)")
    }
  }

  @Test(arguments: ["0", "-1", "", "tomorrow", "Sun, 31 Feb 1994 08:49:37 GMT", "Foo, 06 Nov 2094 08:49:37 GMT"])
  func `An invalid Expires means that the response has expired`(_ value: String) {
    expect(self.freshness(("Expires", value)).lifetime(receivedAt: self.origin), equals: .zero)
  }

  @Test func `Of repeated Expires the first counts`() {
    let fields = [("Expires", "Sun, 06 Nov 1994 08:50:37 GMT"), ("Expires", "0")]
    expect(OperationHTTPFreshness(headerFields: fields).lifetime(receivedAt: self.origin), equals: .seconds(60))
  }

  // RFC 9111, 4.2.3.
  @Test func `The age is the larger of the Age field and the time since the date`() {
    let date = ("Date", "Sun, 06 Nov 1994 08:49:37 GMT")
    expect(self.freshness(("Age", "30")).age(receivedAt: self.origin), equals: .seconds(30))
    expect(self.freshness(date, ("Age", "30")).age(receivedAt: self.origin + 10), equals: .seconds(30))
    expect(self.freshness(date, ("Age", "30")).age(receivedAt: self.origin + 50), equals: .seconds(50))
    expect(self.freshness(date).age(receivedAt: self.origin - 50), equals: .zero)
    expect(self.freshness().age(receivedAt: self.origin), equals: .zero)
  }

  @Test(arguments: ["-1", "x", "", "1.5"])
  func `An invalid Age is ignored`(_ value: String) {
    expect(self.freshness(("Age", value)).age(receivedAt: self.origin), equals: .zero)
  }

  @Test func `Of a list in Age the first number counts`() {
    expect(self.freshness(("Age", "5, 70")).age(receivedAt: self.origin), equals: .seconds(5))
  }

  @Test func `An invalid date is ignored`() {
    expect(self.freshness(("Date", "yesterday")).age(receivedAt: self.origin), equals: .zero)
  }

  // RFC 5861, 3 and 4.
  @Test func `The windows of RFC 5861 are read`() {
    let example = self.freshness(("Cache-Control", "max-age=600, stale-while-revalidate=30, stale-if-error=1200"))
    expect(example.lifetime(receivedAt: self.origin), equals: .seconds(600))
    expect(example.staleWhileRevalidate, equals: .seconds(30))
    expect(example.staleIfError, equals: .seconds(1200))
    #expect(!example.forbidsStaleUse)
    let invalid = self.freshness(("Cache-Control", "max-age=1, stale-while-revalidate=x, stale-if-error"))
    #expect(invalid.staleWhileRevalidate == nil && invalid.staleIfError == nil)
  }

  @Test(arguments: ["must-revalidate", "no-cache", "no-store"])
  func `What must be asked about is not used stale`(_ directive: String) {
    let freshness = self.freshness(("Cache-Control", "\(directive), stale-while-revalidate=30, stale-if-error=30"))
    #expect(freshness.forbidsStaleUse)
    #expect(freshness.staleWhileRevalidate == nil && freshness.staleIfError == nil)
  }

  @Test func `proxy-revalidate and s-maxage forbid stale use where the value is shared`() {
    for directive in ["proxy-revalidate", "s-maxage=10"] {
      #expect(!self.freshness(("Cache-Control", directive)).forbidsStaleUse)
      #expect(self.freshness(("Cache-Control", directive), isShared: true).forbidsStaleUse)
    }
  }

  @Test func `Entity tags and dates of changes ask whether a response is valid`() {
    expect(self.freshness(("ETag", "\"a\"")).validators?.headerFields.map(\.0), equals: ["If-None-Match"])
    expect(self.freshness(("ETag", "W/\"a\"")).validators?.entityTag, equals: "W/\"a\"")
    for tag in ["a", "\"a", "\"", "w/\"a\"", "\"a\"b\"", "\"a b\""] {
      expect(self.freshness(("ETag", tag)).validators, equals: nil, "\(tag)")
    }
    let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    let modified = self.freshness(("last-modified", date))
    expect(modified.validators?.headerFields.map { "\($0.0): \($0.1)" }, equals: ["If-Modified-Since: \(date)"])
    expect(self.freshness(("Last-Modified", "then")).validators, equals: nil)
    expect(OperationHTTPValidators(entityTag: nil, lastModified: nil), equals: nil)
  }

  @Test func `A lifetime can be named without fields`() {
    let freshness = OperationHTTPFreshness(
      lifetime: .milliseconds(90_500),
      staleWhileRevalidate: .seconds(-1),
      staleIfError: .seconds(Int64.max)
    )
    expect(freshness.lifetime(receivedAt: self.origin), equals: .seconds(90))
    expect(freshness.staleWhileRevalidate, equals: .zero)
    expect(freshness.staleIfError, equals: .seconds(2_147_483_648))
  }

  // RFC 9111, 3.2 and 4.3.4.
  @Test func `A confirmation replaces the fields that it has`() {
    let stored = self.freshness(("Cache-Control", "max-age=60"), ("ETag", "\"a\""), ("Age", "50"))
    let plain = stored.confirmed(by: nil)
    expect(plain.lifetime(receivedAt: self.origin), equals: .seconds(60))
    expect(plain.age(receivedAt: self.origin), equals: .zero)
    expect(plain.validators?.entityTag, equals: "\"a\"")
    let newer = stored.confirmed(by: self.freshness(("Cache-Control", "max-age=5"), ("Age", "2")))
    expect(newer.lifetime(receivedAt: self.origin), equals: .seconds(5))
    expect(newer.age(receivedAt: self.origin), equals: .seconds(2))
  }

  @Test func `Random bytes and damaged fields are read without a trap, and with finite results`() {
    let samples = [
      "max-age=60, stale-while-revalidate=30", #"no-cache="a, b", max-age="7""#, "s-maxage=10, must-revalidate",
      "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "W/\"x\"", "30",
    ]
    let names = ["Cache-Control", "Vary", "Age", "Date", "Expires", "ETag", "Last-Modified", "cache-control"]
    var random = SeededGenerator(seed: 9111)
    for _ in 1...20_000 {
      var fields: [(String, String)] = []
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        var bytes = Array((samples.randomElement(using: &random) ?? "").utf8)
        for _ in 0..<Int.random(in: 0...6, using: &random) {
          let byte = UInt8.random(in: 0...255, using: &random)
          switch Int.random(in: 0...3, using: &random) {
          case 0: bytes.insert(byte, at: Int.random(in: 0...bytes.count, using: &random))
          case 1 where !bytes.isEmpty: bytes.remove(at: Int.random(in: 0..<bytes.count, using: &random))
          case 2 where !bytes.isEmpty: bytes[Int.random(in: 0..<bytes.count, using: &random)] = byte
          default: bytes += Array(repeating: [byte, 0x22, 0x2C, 0x5C].randomElement(using: &random) ?? 0, count: 2)
          }
        }
        fields.append((names.randomElement(using: &random) ?? "", String(decoding: bytes, as: UTF8.self)))
      }
      let freshness = OperationHTTPFreshness(headerFields: fields, isShared: Bool.random(using: &random))
      for date in [self.origin, .distantPast, .distantFuture, Date(timeIntervalSince1970: .nan)] {
        let results = [
          freshness.lifetime(receivedAt: date), freshness.age(receivedAt: date), freshness.staleIfError,
          freshness.staleWhileRevalidate, freshness.confirmed(by: freshness).age(receivedAt: date),
        ]
        for case let result? in results {
          #expect(result >= .zero && result <= .seconds(1 << 31), "\(fields)")
        }
      }
    }
  }
}
