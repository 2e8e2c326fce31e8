public import OperationCore

// Without this declaration the compiler says only that `Failure` is not `any Error`, and names no remedy.
extension OperationRequest where Self: Sendable, Value: Sendable {
  /// Not for operations with a failure type of their own: use ``unique(_:policy:else:)``.
  @available(
    *,
    unavailable,
    message:
      "Failure is not `any Error`: say which failure a rejected run is, with .unique(id, policy: policy, else: { error in … })"
  )
  @_disfavoredOverload
  public func unique(
    _ id: some Hashable & Sendable,
    policy: UniqueWorkPolicy
  ) -> ModifiedOperation<Self, UniqueOperation<Self>> {
    preconditionFailure("Unavailable.")
  }
}
