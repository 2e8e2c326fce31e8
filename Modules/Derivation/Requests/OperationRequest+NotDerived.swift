public import OperationCore

// Without this declaration the compiler says only that there is no such member.
extension OperationRequest {
  /// Not for mutations, lists of pages and operations without a state: only a query can be derived.
  @available(
    *,
    unavailable,
    message: "only a query can be derived: read the other operations in a query, and this operation from that"
  )
  @_disfavoredOverload
  public func derived() -> Self {
    preconditionFailure("Unavailable.")
  }
}
