public import OperationFoundation

/// A state that keeps its calls, such as the state of a mutation. Tools show them next to the value.
public protocol CallKeepingState: Sendable {
  /// The calls, newest first.
  var keptCalls: [KeptCall] { get }
}

/// A call that a state keeps.
public struct KeptCall: Sendable {
  public let task: OperationTaskIdentifier
  /// The arguments, which may contain user data and secrets.
  public let arguments: any Sendable
  public let start: Date
  /// Whether the call has ended.
  public let hasEnded: Bool
  /// The error of the call; nil without one.
  public let error: (any Error)?

  public init(
    task: OperationTaskIdentifier,
    arguments: any Sendable,
    start: Date,
    hasEnded: Bool,
    error: (any Error)?
  ) {
    self.task = task
    self.arguments = arguments
    self.start = start
    self.hasEnded = hasEnded
    self.error = error
  }
}
