import FoundationEssentials
import OperationCore
import OperationRetry
import Testing

@Suite struct HTTPRetryTests {
  private let now = Date(timeIntervalSince1970: 784_111_777 - 90)  // 90 seconds before the date of the RFC.

  @Test(arguments: [
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    "  Sun, 06 Nov 1994 08:49:37 GMT  ", "90", " 90 ", "90.0",
  ])
  func `Seconds and dates in all formats are understood`(header: String) {
    #expect(OperationDuration(httpRetryAfter: header, now: self.now) == .seconds(90))
  }

  @Test(arguments: ["-5", "0", "Sat, 05 Nov 1994 08:49:37 GMT", "Thu, 01 Jan 1970 00:00:00 GMT"])
  func `Dates in the past and negative numbers are zero`(header: String) {
    #expect(OperationDuration(httpRetryAfter: header, now: self.now) == .zero)
  }

  @Test(arguments: [
    "", " ", "soon", "nan", "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET",
    "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
    "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
    "Sun, 06 Nov 99999999999999999999 08:49:37 GMT", "Sun, ٠٦ Nov 1994 08:49:37 GMT",
    "0x10", "Thu, 31 Nov 1994 08:49:37 GMT", "Mon, 30 Feb 2026 00:00:00 GMT", "Tue, 29 Feb 2100 00:00:00 GMT",
    "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT GMT",
  ])
  func `A malformed header is ignored`(header: String) {
    #expect(OperationDuration(httpRetryAfter: header, now: self.now) == nil)
    #expect(RetryClassification(httpStatus: 503, retryAfter: header, now: self.now) == .retry)
  }

  @Test(arguments: ["inf", "1e300", "99999999999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"])
  func `A huge header is clamped`(header: String) {
    #expect(OperationDuration(httpRetryAfter: header, now: self.now) == .seconds(100 * 365 * 86_400))
  }

  @Test func `Leap years and centuries are counted`() {
    for (header, seconds) in [
      ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000.0), ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400),
      ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400), ("Monday, 01-Jan-69 00:00:00 GMT", 3_124_224_000),
    ] {
      let now = Date(timeIntervalSince1970: seconds - 10)
      #expect(OperationDuration(httpRetryAfter: header, now: now) == .seconds(10))
    }
  }

  @Test func `Status codes allow another attempt, or do not`() {
    for status in [408, 425, 429, 500, 502, 503, 504] {
      #expect(RetryClassification(httpStatus: status) == .retry)
      #expect(RetryClassification(httpStatus: status, retryAfter: "5") == .retryAfter(.seconds(5)))
    }
    for status in [200, 301, 400, 401, 403, 404, 409, 410, 422, 501, 505, -1, .max] {
      #expect(RetryClassification(httpStatus: status, retryAfter: "5") == .never)
    }
  }
}
