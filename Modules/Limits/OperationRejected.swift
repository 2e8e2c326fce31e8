public import OperationCore

/// The error of a run that a limit has rejected.
///
/// A retry outside of the limit waits for ``retryAfter``.
public struct OperationRejected: RetryHinting, Hashable, Sendable {
  /// The time until the limit would admit the run; nil if it is unknown.
  ///
  /// A ``RateLimit`` computes it. Other limits cannot know when a run ends and returns its permit.
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
    let wait = self.retryAfter.map { "It would admit the run in \($0)." }
    return "A limit rejected the run. \(wait ?? "The time until it admits the run is unknown.")"
  }
}
