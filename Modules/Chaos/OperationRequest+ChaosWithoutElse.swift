public import OperationCore

// Without this declaration the compiler says only that `Failure` is not `any Error`, and names no remedy.
extension OperationRequest {
  /// Not for operations with a failure type of their own: use ``chaos(_:else:)``.
  @available(
    *,
    unavailable,
    message: "Failure is not `any Error`: say which failure is injected, with .chaos(chaos, else: { error in … })"
  )
  @_disfavoredOverload
  public func chaos(_ chaos: Chaos) -> ModifiedOperation<Self, ChaosInjection<Self>> {
    preconditionFailure("Unavailable.")
  }
}
