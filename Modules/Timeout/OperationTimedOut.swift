/// The error of a run that has not ended in time.
public struct OperationTimedOut: Error, Hashable, Sendable {
  /// The time that the run had.
  ///
  /// For a deadline, that is the time from the start of the run, or zero if the deadline had passed before.
  public let duration: Duration

  /// Creates an error.
  ///
  /// - Parameter duration: The time that the run had.
  public init(after duration: Duration) {
    self.duration = duration
  }
}

extension OperationTimedOut: CustomStringConvertible {
  /// The message of the error.
  public var description: String { "The operation did not end within \(self.duration)." }
}
