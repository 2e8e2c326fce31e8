package import OperationFoundation

/// A state that keeps the calls that were made, such as those of a mutation, for what shows states to people.
package protocol CallKeepingState: Sendable {
  /// The calls, newest first.
  var keptCalls: [KeptCall] { get }
}

/// A call that a state keeps.
package struct KeptCall: Sendable {
  package let task: OperationTaskIdentifier
  /// The arguments, which may contain user data and secrets.
  package let arguments: any Sendable
  package let start: Date
  /// Whether the call has ended.
  package let hasEnded: Bool
  /// The error of the call; nil without one.
  package let error: (any Error)?

  package init(
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
