public import OperationCore

/// The error of a run that a limit has rejected.
///
/// A retry outside of the limit waits for ``retryAfter``.
public struct OperationRejected: RetryHinting, Hashable, Sendable {
  /// The time until the limit would admit the run; nil if it is unknown.
  ///
  /// A ``RateLimit`` knows it. When a run ends and frees its permit is unknown.
  public let retryAfter: OperationDuration?

  /// Creates an error.
  ///
  /// - Parameter retryAfter: The time until the limit would admit the run; nil if it is unknown.
  public init(retryAfter: OperationDuration?) {
    self.retryAfter = retryAfter
  }
}

extension OperationRejected: CustomStringConvertible {
  /// The error and the time to wait, in words.
  public var description: String {
    let hint = self.retryAfter.map { "it would admit the run in \($0)" } ?? "when it admits the run is unknown"
    return "A limit rejected the run; \(hint)."
  }
}
