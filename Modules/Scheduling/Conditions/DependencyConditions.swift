public import OperationCore

/// A condition that denies a scheduled operation if one of its dependencies was cancelled or skipped.
///
/// A dependency that has failed does not count. Without dependencies the condition is satisfied. It denies
/// with ``OperationDependencyFailed``.
public struct NoCancelledDependencies: OperationCondition, Hashable {
  /// Creates a condition.
  public init() {}

  public func evaluate(in context: OperationContext) async -> OperationConditionResult {
    for dependency in AnyScheduledOperation.current?.dependencies ?? [] {
      if case .cancelled(let error) = dependency.outcome { return .denied(dependency.failure(error)) }
    }
    return .satisfied
  }
}

/// A condition that denies a scheduled operation if one of its dependencies has failed.
///
/// A dependency that was cancelled or skipped does not count; combine the condition with ``NoCancelledDependencies``.
/// It denies with ``OperationDependencyFailed``.
public struct NoFailedDependencies: OperationCondition, Hashable {
  /// Creates a condition.
  public init() {}

  public func evaluate(in context: OperationContext) async -> OperationConditionResult {
    for dependency in AnyScheduledOperation.current?.dependencies ?? [] {
      if case .failed(let error) = dependency.outcome { return .denied(dependency.failure(error)) }
    }
    return .satisfied
  }
}

extension FinishedDependency {
  /// The error of an operation that does not run because of this dependency. Such errors are not nested.
  func failure(_ error: any Error) -> OperationDependencyFailed {
    let cause = (error as? OperationDependencyFailed)?.underlyingError ?? error
    return OperationDependencyFailed(dependencyName: self.name, underlyingError: cause)
  }
}
