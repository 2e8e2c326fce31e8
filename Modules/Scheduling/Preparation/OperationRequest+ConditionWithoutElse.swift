public import OperationCore

// Without these declarations the compiler says only that `Failure` is not `any Error`, and names no remedy.
extension OperationRequest {
  /// Not for operations with a failure type of their own: use ``condition(_:else:)``.
  @available(
    *,
    unavailable,
    message:
      "Failure is not `any Error`: say which failure a denial is, with .condition(condition, else: { error in … })"
  )
  @_disfavoredOverload
  public func condition(_ condition: some OperationCondition) -> ModifiedOperation<Self, OperationPreparation<Self>> {
    preconditionFailure("Unavailable.")
  }

  /// Not for operations with a failure type of their own: use ``condition(_:else:)``.
  @available(
    *,
    unavailable,
    message:
      "Failure is not `any Error`: say which failure a denial is, with .condition(condition, else: { error in … })"
  )
  @_disfavoredOverload
  public func condition(
    _ specification: some OperationRunSpecification & Sendable
  ) -> ModifiedOperation<Self, OperationPreparation<Self>> {
    preconditionFailure("Unavailable.")
  }

  /// Not for operations with a failure type of their own: use ``mutuallyExclusive(_:maximumWait:else:)``.
  @available(
    *,
    unavailable,
    message:
      "Failure is not `any Error`: say which failure it is, with .mutuallyExclusive(name, maximumWait: limit, else: { error in … })"
  )
  @_disfavoredOverload
  public func mutuallyExclusive(
    _ categories: any (Hashable & Sendable)...,
    maximumWait: OperationDuration
  ) -> ModifiedOperation<Self, OperationPreparation<Self>> {
    preconditionFailure("Unavailable.")
  }
}
