public import OperationCore
public import OperationFoundation
internal import OperationRetry

/// The answer of a server whose status is not one of success, 200 to 299.
///
/// It says by itself whether another attempt can succeed, and when: `.retry(limit:)`, hedges, limits and journals ask it.
/// After 408, 425, 429, 500, 502, 503 and 504 one can, after the time in `Retry-After` if there is one, a number of
/// seconds or a date. After the others it cannot.
public struct OperationHTTPStatusError: RetryClassifying, RetryHinting, Sendable {
  /// The status, such as 503.
  public let status: Int

  /// The header fields of the answer.
  public let fields: OperationHTTPFields

  /// The first bytes of the body, at most 64 kB.
  public let body: Data

  /// Whether, and when, another attempt can succeed.
  public let retryClassification: RetryClassification

  /// Creates the error.
  ///
  /// - Parameters:
  ///   - status: The status.
  ///   - fields: The header fields of the answer.
  ///   - body: The first bytes of the body.
  ///   - now: The current date, for a `Retry-After` with a date.
  public init(status: Int, fields: OperationHTTPFields = [:], body: Data = Data(), now: Date = Date()) {
    self.status = status
    self.fields = fields
    self.body = body
    self.retryClassification = RetryClassification(httpStatus: status, retryAfter: fields["Retry-After"], now: now)
  }

  /// The time from the answer to the next useful attempt; nil if the server has named none.
  public var retryAfter: OperationDuration? {
    if case .retryAfter(let delay) = self.retryClassification { delay } else { nil }
  }
}

extension OperationHTTPStatusError: CustomStringConvertible {
  /// The status, without what the server has written: that can be about a user.
  public var description: String { "The server has answered with the status \(self.status)." }
}

extension OperationHTTPStatusError: LocalizedError {
  public var errorDescription: String? { self.description }
}
