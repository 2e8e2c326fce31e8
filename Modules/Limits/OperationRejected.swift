public import OperationCore
public import OperationFoundation

/// The error of a run that a limit has rejected.
///
/// A retry outside of the limit waits for ``retryAfter``. Other limits and circuit breakers do not count the run, because
/// its operation has not begun.
public struct OperationRejected: RetryHinting, LocalRejection, Sendable {
  /// The time until the limit would admit the run; nil if it is unknown.
  ///
  /// A ``RateLimit`` computes it. Other limits cannot know when a run ends and returns its permit.
  public let retryAfter: OperationDuration?

  /// The name of the limit; nil for a limit without a name.
  public let name: String?

  /// The error of the last run that the limit had admitted and that has failed; nil if none has.
  public let lastFailure: (any Error)?

  /// Whether the operation has begun in an earlier attempt of the run.
  public private(set) var hasBegun = false

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - retryAfter: The time until the limit would admit the run; nil if it is unknown.
  ///   - name: The name of the limit.
  ///   - lastFailure: The error of the last run that has failed.
  public init(retryAfter: OperationDuration?, name: String? = nil, lastFailure: (any Error)? = nil) {
    self.retryAfter = retryAfter
    self.name = name
    self.lastFailure = lastFailure
  }

  public func afterAttempt() -> OperationRejected {
    var error = self
    error.hasBegun = true
    return error
  }
}

extension OperationRejected: Hashable {
  /// Whether both errors have the same name and time. The last failure is not compared.
  public static func == (lhs: OperationRejected, rhs: OperationRejected) -> Bool {
    lhs.retryAfter == rhs.retryAfter && lhs.name == rhs.name
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(self.retryAfter)
    hasher.combine(self.name)
  }
}

extension OperationRejected: CustomStringConvertible {
  /// The limit, the time to wait and the last failure, in one sentence.
  public var description: String {
    let limit = self.name.map { "The limit \"\($0)\"" } ?? "A limit"
    let wait = self.retryAfter.map { ", and would admit it in \($0.roundedText)" } ?? ""
    let failure = self.lastFailure.map { "; the last failure was: \(ShownText.whole($0))" } ?? ""
    return "\(limit) rejected the run\(wait)\(failure)."
  }
}

extension OperationRejected: LocalizedError {
  public var errorDescription: String? { self.description }
}
