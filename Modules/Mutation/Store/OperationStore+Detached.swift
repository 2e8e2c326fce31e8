public import OperationCore

extension OperationStore {
  /// Creates a store of a mutation that belongs to no client.
  ///
  /// - Parameters:
  ///   - mutation: The mutation. It sets up the context once, during this call.
  ///   - initialValue: The value to begin with.
  ///   - initialContext: The context before the mutation sets it up.
  /// - Returns: The store, before its first call.
  public static func detached<Mutation: MutationRequest>(
    mutation: Mutation,
    initialValue: Mutation.MutateValue? = nil,
    initialContext: OperationContext = OperationContext()
  ) -> OperationStore
  where State == MutationState<Mutation.Arguments, Mutation.MutateValue, Mutation.MutateFailure> {
    .detached(
      operation: mutation,
      initialState: MutationState(initialValue: initialValue),
      initialContext: initialContext
    )
  }

  /// Creates a store of a mutation with a default value that belongs to no client.
  ///
  /// - Parameters:
  ///   - mutation: The mutation. It sets up the context once, during this call.
  ///   - initialContext: The context before the mutation sets it up.
  /// - Returns: The store, before its first call.
  public static func detached<Mutation: DefaultStateRequest>(
    mutation: Mutation,
    initialContext: OperationContext = OperationContext()
  ) -> OperationStore where State == Mutation.State, State: MutationStateProtocol {
    .detached(operation: mutation, initialContext: initialContext)
  }
}
