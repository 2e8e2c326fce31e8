public import OperationCore

// Without this declaration the compiler says only that `Failure` is not `any Error`, and names no remedy.
extension OperationRequest {
  /// Not for operations with a failure type of their own: use
  /// ``OperationCore/OperationRequest/waits(until:timeout:else:)``.
  @available(
    *,
    unavailable,
    message:
      "Failure is not `any Error`: say which failure a timeout is, with .waits(until: …, timeout: …, else: { error in … })"
  )
  @_disfavoredOverload
  public func waits<Specification: OperationRunSpecification & Sendable>(
    until specification: Specification,
    timeout: OperationDuration?
  ) -> ModifiedOperation<Self, Waiting<Self, Specification>> {
    preconditionFailure("Unavailable.")
  }
}
