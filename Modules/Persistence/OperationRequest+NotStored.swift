public import OperationCore
public import OperationMutation

// Without these declarations the compiler names protocols of states, and no remedy.
extension OperationRequest {
  /// Not for values that cannot be encoded, and not for mutations.
  @available(
    *,
    unavailable,
    message:
      "it stores the value of a query or of pages, which has to be Codable; the calls of a mutation are journaled(as:)"
  )
  @_disfavoredOverload
  public func persisted(as name: String) -> Self {
    preconditionFailure("Unavailable.")
  }

  /// Not for queries and pages, and not for arguments that cannot be encoded.
  @available(
    *,
    unavailable,
    message: "it stores the calls of a mutation, whose arguments have to be Codable; a query's value is persisted(as:)"
  )
  @_disfavoredOverload
  public func journaled(as name: String) -> Self {
    preconditionFailure("Unavailable.")
  }
}

extension MutationRequest where Arguments: Codable {
  /// Not for mutations with a failure type of their own: use ``journaled(as:aliases:version:policy:coder:in:excluding:failsForGood:migrate:else:)``.
  @available(
    *,
    unavailable,
    message:
      "MutateFailure is not `any Error`: say which failure a call throws that is not made, with .journaled(as: name, else: { error in … })"
  )
  @_disfavoredOverload
  public func journaled(as name: String) -> Self {
    preconditionFailure("Unavailable.")
  }
}
