public import OperationCore

/// The error of a run that a ``CircuitBreaker`` has rejected.
///
/// A retry outside of the breaker waits for ``retryAfter``.
public struct CircuitOpen: RetryHinting, Hashable, Sendable {
  /// The time until the breaker admits a run; nil if it is unknown.
  ///
  /// It is unknown while the breaker waits for the result of a probe, and while it is isolated.
  public let retryAfter: OperationDuration?

  /// Creates an error.
  ///
  /// - Parameter retryAfter: The time until the breaker admits a run; nil if it is unknown.
  public init(retryAfter: OperationDuration?) {
    self.retryAfter = retryAfter
  }
}

extension CircuitOpen: CustomStringConvertible {
  /// The error and the time to wait, in words.
  public var description: String {
    let hint = self.retryAfter.map { "It admits a run in \($0)." } ?? "The time until it admits a run is unknown."
    return "The circuit breaker is open. \(hint)"
  }
}
