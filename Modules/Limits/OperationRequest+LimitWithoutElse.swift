public import OperationCore

// Without this declaration the compiler says only that `Failure` is not `any Error`, and names no remedy.
extension OperationRequest {
  /// Not for operations with a failure type of their own: use ``limited(by:maximumWait:else:)``.
  @available(
    *,
    unavailable,
    message:
      "Failure is not `any Error`: say which failure a rejected run is, with .limited(by: limit, else: { error in … })"
  )
  @_disfavoredOverload
  public func limited<Limit: OperationLimit>(
    by limit: Limit,
    maximumWait: OperationDuration? = nil
  ) -> ModifiedOperation<Self, Limited<Self, Limit>> {
    preconditionFailure("Unavailable.")
  }
}
