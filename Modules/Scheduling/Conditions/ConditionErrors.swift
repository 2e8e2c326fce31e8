/// The error of a run that did not take place because a condition or a policy says so, without a failure.
public struct OperationSkipped: Error, Hashable, Sendable, CustomStringConvertible {
  /// The name of the condition or policy.
  public let reason: String

  /// Creates an error.
  public init(reason: String = "a condition") {
    self.reason = reason
  }

  public var description: String { "The operation was skipped by \(self.reason)." }
}

/// The error of a run that a condition without an error of its own does not allow.
public struct OperationConditionDenied: Error, Hashable, Sendable, CustomStringConvertible {
  /// The name of the condition.
  public let conditionName: String

  /// Creates an error.
  public init(conditionName: String) {
    self.conditionName = conditionName
  }

  public var description: String { "The condition \(self.conditionName) does not allow the operation to run." }
}

/// The error of a run that none of several alternative conditions allows.
public struct OperationAlternativesDenied: Error, Sendable, CustomStringConvertible {
  /// The errors of the conditions, in the order in which the conditions were written.
  public let errors: [any Error]

  /// Creates an error.
  public init(errors: [any Error]) {
    self.errors = errors
  }

  public var description: String {
    "No alternative allows the operation to run: \(self.errors.map { "\($0)" }.joined(separator: "; "))."
  }
}
