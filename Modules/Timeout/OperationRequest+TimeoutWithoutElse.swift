public import OperationCore

// Without these declarations the compiler says only that `Failure` is not `any Error`, and names no remedy.
extension OperationRequest where Self: Sendable, Value: Sendable {
  /// Not for operations with a failure type of their own: use ``timeout(_:else:)``.
  @available(
    *,
    unavailable,
    message: "Failure is not `any Error`: say which failure a timeout is, with .timeout(limit, else: { error in … })"
  )
  @_disfavoredOverload
  public func timeout(_ limit: Duration) -> ModifiedOperation<Self, Timeout<Self>> {
    preconditionFailure("Unavailable.")
  }

  /// Not for operations with a failure type of their own: use ``deadline(_:else:)``.
  @available(
    *,
    unavailable,
    message: "Failure is not `any Error`: say which failure a timeout is, with .deadline(instant, else: { error in … })"
  )
  @_disfavoredOverload
  public func deadline(_ deadline: ContinuousClock.Instant) -> ModifiedOperation<Self, Timeout<Self>> {
    preconditionFailure("Unavailable.")
  }

  /// Not for operations with a failure type of their own: use ``deadline(after:else:)``.
  @available(
    *,
    unavailable,
    message:
      "Failure is not `any Error`: say which failure a timeout is, with .deadline(after: limit, else: { error in … })"
  )
  @_disfavoredOverload
  public func deadline(after limit: Duration) -> ModifiedOperation<Self, Timeout<Self>> {
    preconditionFailure("Unavailable.")
  }

  /// Not for operations with a failure type of their own: use ``deadline(else:)``.
  @available(
    *,
    unavailable,
    message: "Failure is not `any Error`: say which failure a timeout is, with .deadline(else: { error in … })"
  )
  @_disfavoredOverload
  public func deadline() -> ModifiedOperation<Self, Timeout<Self>> {
    preconditionFailure("Unavailable.")
  }
}
