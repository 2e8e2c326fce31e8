public import OperationAttempts
public import OperationCore

// Without these declarations the compiler says only that there is no such member.
extension OperationRequest {
  /// Not for operations of which it is not known that they may run twice: queries, and what is `idempotent()`.
  @available(
    *,
    unavailable,
    message:
      "a hedge runs the operation twice at a time: write .idempotent() before .hedged(after:) if that is harmless"
  )
  @_disfavoredOverload
  public func hedged(after delay: OperationDuration, maximum: Int = 2, budget: RetryBudget? = nil) -> Self {
    preconditionFailure("Unavailable.")
  }

  /// Not for operations of which it is not known that they may run twice: queries, and what is `idempotent()`.
  @available(
    *,
    unavailable,
    message:
      "a hedge runs the operation twice at a time: write .idempotent() before .hedged(after:) if that is harmless"
  )
  @_disfavoredOverload
  public func hedged(after delay: HedgeDelay, maximum: Int = 2, budget: RetryBudget? = nil) -> Self {
    preconditionFailure("Unavailable.")
  }
}
