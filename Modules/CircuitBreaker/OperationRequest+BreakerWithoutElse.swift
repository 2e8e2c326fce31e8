public import OperationCore

// Without these declarations the compiler says only that `Failure` is not `any Error`, and names no remedy.
extension OperationRequest {
  /// Not for operations with a failure type of their own: use ``circuitBreaker(_:else:)``.
  @available(
    *,
    unavailable,
    message:
      "Failure is not `any Error`: say which failure an open breaker is, with .circuitBreaker(breaker, else: { error in … })"
  )
  @_disfavoredOverload
  public func circuitBreaker(_ breaker: CircuitBreaker) -> ModifiedOperation<Self, CircuitBreaking<Self>> {
    preconditionFailure("Unavailable.")
  }

  /// Not for operations with a failure type of their own: use `circuitBreaker(_:failingOn:by:else:)`.
  @available(
    *,
    unavailable,
    message:
      "Failure is not `any Error`: say which failure an open breaker is, with .circuitBreaker(breakers, by: { … }, else: { error in … })"
  )
  @_disfavoredOverload
  public func circuitBreaker(
    _ breakers: CircuitBreakers,
    failingOn failures: CircuitBreaker.FailureValues<Value>? = nil,
    by key: @escaping @Sendable (Self, OperationContext) -> String
  ) -> ModifiedOperation<Self, KeyedCircuitBreaking<Self>> {
    preconditionFailure("Unavailable.")
  }
}
