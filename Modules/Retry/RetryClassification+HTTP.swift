public import OperationCore
public import OperationFoundation

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
  /// count as zero. Numbers may have a fraction and an exponent, and must be finite. A year of two digits is the latest
  /// one that is at most 50 years in the future.
  ///
  /// - Parameters:
  ///   - header: The value of the header.
  ///   - now: The current date, for headers with a date.
  public init?(httpRetryAfter header: String, now: Date = Date()) {
    let text = header.trimmingPrefix { $0 == " " || $0 == "\t" }
    let now = now.timeIntervalSince1970
    let seconds = HTTPDate(text, now: now).map { $0.secondsSince1970 - now } ?? text.trimmedEnd.decimal
    guard let seconds, !seconds.isNaN else { return nil }
    // A hundred years, within which a duration in seconds is exact.
    self = .seconds(Swift.min(Swift.max(seconds, 0), 100 * 365 * 86_400))
  }
}

extension Substring {
  /// The finite number that the text represents in decimal notation; nil if it is none.
  fileprivate var decimal: Double? {
    // `Double` also reads hexadecimal numbers, names of infinity, and what is before a null character.
    guard self.utf8.allSatisfy({ Self.decimalCharacters.contains($0) }), let number = Double(self) else { return nil }
    // A number of many digits is too large, but a number; one with such an exponent is a mistake.
    return number.isFinite ? number : nil
  }

  private static let decimalCharacters = Set("0123456789+-.eE".utf8)

  fileprivate var trimmedEnd: Substring {
    guard let last = self.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
    return self[...last]
  }
}
