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
  fileprivate func failure(_ error: any Error) -> OperationDependencyFailed {
    OperationDependencyFailed(dependencyName: self.name, underlyingError: error)
  }
}
