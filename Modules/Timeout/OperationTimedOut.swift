internal import OperationCore

/// The error of a run that has not ended in time.
public struct OperationTimedOut: Error, Hashable, Sendable {
  /// The time that was asked for.
  ///
  /// For `deadline(_:)`, that is the time from the start of the run to the deadline, or zero if the deadline had passed
  /// before.
  public let duration: Duration

  /// Creates an error.
  ///
  /// - Parameter duration: The time that was asked for.
  public init(after duration: Duration) {
    self.duration = duration
  }
}

extension OperationTimedOut: CustomStringConvertible {
  /// The message of the error.
  public var description: String {
    guard self.duration > .zero else { return "The time of the operation was over before it began." }
    return "The operation did not end within \(self.duration.roundedText)."
  }
}
