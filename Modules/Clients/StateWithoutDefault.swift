extension OperationClient {
  /// Says which state the store of an operation with a default value has, where another one is named.
  @available(
    *,
    unavailable,
    message: "a default value makes a state without nil: write OperationStore<PostQuery.Default.State>, or no type"
  )
  public func store<Operation: DefaultStateRequest, Base>(for operation: Operation) -> OperationStore<Base>
  where Operation.State == DefaultOperationState<Base> { preconditionFailure("Unavailable.") }
}
