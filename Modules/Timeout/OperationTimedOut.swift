public import OperationCore
public import OperationFoundation

/// The error of a run that has not ended in time.
///
/// It is a ``/OperationCore/LocalRejection`` if the time was over before the operation began: breakers, limits and budgets
/// outside do not count such a run, which has not reached the service. Another attempt can succeed, so that a journaled call
/// stays in its journal and is made again. Two errors are equal if their durations are.
public struct OperationTimedOut: LocalRejection, RetryClassifying, Hashable, Sendable {
  /// The time that was asked for.
  ///
  /// For `deadline(_:)`, that is the time from the start of the run to the deadline, or zero if the deadline had passed
  /// before.
  public let duration: Duration

  /// Whether the operation has begun. False if the time was over before.
  public let hasBegun: Bool

  public var retryClassification: RetryClassification { .retry }

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - duration: The time that was asked for.
  ///   - hasBegun: Whether the operation has begun.
  public init(after duration: Duration, hasBegun: Bool = true) {
    self.duration = duration
    self.hasBegun = hasBegun
  }

  public static func == (left: OperationTimedOut, right: OperationTimedOut) -> Bool {
    left.duration == right.duration
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(self.duration)
  }

  /// The same error, of a run whose operation has begun in an earlier attempt.
  public func afterAttempt() -> OperationTimedOut { OperationTimedOut(after: self.duration) }
}

extension OperationTimedOut: CustomStringConvertible {
  /// The message of the error.
  public var description: String {
    guard self.duration > .zero else { return "The time of the operation was over before it began." }
    return "The operation did not end within \(self.duration.roundedText)."
  }
}

extension OperationTimedOut: LocalizedError {
  public var errorDescription: String? { self.description }
}
