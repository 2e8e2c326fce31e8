public import OperationCore
public import OperationFoundation

/// The error of a run that a ``CircuitBreaker`` has rejected.
///
/// A retry outside of the breaker waits for ``retryAfter``. Limits and other breakers do not count the run, because its
/// operation has not begun.
public struct CircuitOpen: RetryHinting, LocalRejection, Sendable {
  /// The time until the breaker admits a run; nil if it is unknown.
  ///
  /// It is unknown while the breaker waits for the result of a probe, and while it is isolated.
  public let retryAfter: OperationDuration?

  /// The name of the breaker; nil for a breaker without a name.
  public let name: String?

  /// The error of the last run that the breaker has counted as a failure; nil if there was none.
  public let lastFailure: (any Error)?

  /// Whether the operation has begun in an earlier attempt of the run.
  public private(set) var hasBegun = false

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - retryAfter: The time until the breaker admits a run; nil if it is unknown.
  ///   - name: The name of the breaker.
  ///   - lastFailure: The error of the last run that has failed.
  public init(retryAfter: OperationDuration?, name: String? = nil, lastFailure: (any Error)? = nil) {
    self.retryAfter = retryAfter
    self.name = name
    self.lastFailure = lastFailure
  }

  public func afterAttempt() -> CircuitOpen {
    var error = self
    error.hasBegun = true
    return error
  }
}

extension CircuitOpen: Hashable {
  /// Whether both errors have the same name and time. The last failure is not compared.
  public static func == (lhs: CircuitOpen, rhs: CircuitOpen) -> Bool {
    lhs.retryAfter == rhs.retryAfter && lhs.name == rhs.name
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(self.retryAfter)
    hasher.combine(self.name)
  }
}

extension CircuitOpen: CustomStringConvertible {
  /// The breaker, the time to wait and the last failure, in one sentence.
  public var description: String {
    let breaker = self.name.map { "The circuit breaker \"\($0)\"" } ?? "The circuit breaker"
    let wait = self.retryAfter.map { "is open, and admits a run in \($0.roundedText)" } ?? "admits no run at the moment"
    let failure = self.lastFailure.map { "; the last failure was: \(ShownText.whole($0))" } ?? ""
    return "\(breaker) \(wait)\(failure)."
  }
}

extension CircuitOpen: LocalizedError {
  public var errorDescription: String? { self.description }
}
