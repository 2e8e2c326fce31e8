internal import OperationCore
public import OperationFoundation

/// The error of a run that a condition or a policy skipped, which is not a failure.
public struct OperationSkipped: Error, Hashable, Sendable, CustomStringConvertible {
  /// The name of the condition or policy.
  public let reason: String

  /// Creates an error.
  ///
  /// - Parameter reason: The name of the condition or policy.
  public init(reason: String = "a condition") {
    self.reason = reason
  }

  public var description: String { "The operation was skipped by \(self.reason)." }
}

/// The error of a run that was denied by a condition without an error of its own.
public struct OperationConditionDenied: Error, Hashable, Sendable, CustomStringConvertible {
  /// The name of the condition.
  public let conditionName: String

  /// Creates an error.
  ///
  /// - Parameter conditionName: The name of the condition.
  public init(conditionName: String) {
    self.conditionName = conditionName
  }

  public var description: String { "The condition \(self.conditionName) does not allow the operation to run." }
}

/// The error of a run that was denied by several conditions, one of which had to be satisfied.
public struct OperationAlternativesDenied: Error, Sendable, CustomStringConvertible {
  /// The errors of the conditions, in the order in which the conditions were written.
  public let errors: [any Error]

  /// Creates an error.
  ///
  /// - Parameter errors: The errors of the conditions, in the order in which the conditions were written.
  public init(errors: [any Error]) {
    self.errors = errors
  }

  public var description: String {
    "No alternative allows the operation to run: \(self.errors.map { ShownText.whole($0) }.joined(separator: "; "))."
  }
}

/// The error of a run that was denied because a dependency has not succeeded.
public struct OperationDependencyFailed: Error, Sendable, CustomStringConvertible {
  /// The name of the dependency.
  public let dependencyName: String

  /// The error of the dependency.
  ///
  /// If the dependency did not run because of a dependency of its own, this is the error of that one: in a chain of
  /// any length, the error with which it all began.
  public let underlyingError: any Error

  public var description: String {
    "The dependency \(self.dependencyName) has not succeeded: \(ShownText.whole(self.underlyingError))"
  }
}

extension OperationSkipped: LocalizedError {
  public var errorDescription: String? { self.description }
}

extension OperationConditionDenied: LocalizedError {
  public var errorDescription: String? { self.description }
}

extension OperationAlternativesDenied: LocalizedError {
  public var errorDescription: String? { self.description }
}

extension OperationDependencyFailed: LocalizedError {
  public var errorDescription: String? { self.description }
}
