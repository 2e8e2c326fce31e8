public import FoundationEssentials
public import OperationCore

extension RetryClassification {
  /// Classifies the answer of an HTTP server.
  ///
  /// After the status codes 408, 425, 429, 500, 502, 503 and 504 another attempt can succeed, after the time in the
  /// header `Retry-After` if there is one. After all others it cannot, because the same request gets the same answer.
  ///
  /// ```swift
  /// struct HTTPError: Error, RetryClassifying {
  ///   let status: Int
  ///   let retryAfter: String?
  ///
  ///   var retryClassification: RetryClassification {
  ///     RetryClassification(httpStatus: self.status, retryAfter: self.retryAfter)
  ///   }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - status: The status code.
  ///   - header: The value of the header `Retry-After`; nil without one. One that is malformed is ignored.
  ///   - now: The current date, for headers with a date.
  public init(httpStatus status: Int, retryAfter header: String? = nil, now: Date = Date()) {
    switch status {
    case 408, 425, 429, 500, 502, 503, 504:
      if let header, let delay = OperationDuration(httpRetryAfter: header, now: now) {
        self = .retryAfter(delay)
      } else {
        self = .retry
      }
    default: self = .never
    }
  }
}

extension OperationDuration {
  /// The time in a header `Retry-After`; nil if it is malformed.
  ///
  /// The value is a number of seconds or a date, in any of the three formats of
  /// [RFC 9110](https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3). A negative number and a date in the past
  /// count as zero. Numbers may have a fraction.
  ///
  /// - Parameters:
  ///   - header: The value of the header.
  ///   - now: The current date, for headers with a date.
  public init?(httpRetryAfter header: String, now: Date = Date()) {
    let text = header.trimmingPrefix { $0 == " " || $0 == "\t" }
    let seconds = HTTPDate(text).map { $0.secondsSince1970 - now.timeIntervalSince1970 } ?? text.trimmedEnd.decimal
    guard let seconds, !seconds.isNaN else { return nil }
    // A hundred years, within which a duration in seconds is exact.
    self = .seconds(Swift.min(Swift.max(seconds, 0), 100 * 365 * 86_400))
  }
}

extension Substring {
  /// The number that the text represents in decimal notation; nil if it is not a number.
  fileprivate var decimal: Double? {
    // `Double` reads hexadecimal numbers as well.
    self.contains { $0 == "x" || $0 == "X" } ? nil : Double(self)
  }

  fileprivate var trimmedEnd: Substring {
    guard let last = self.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
    return self[...last]
  }
}
