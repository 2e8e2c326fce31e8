public import OperationCore

extension OperationStore {
  /// Creates a store of a mutation that belongs to no client.
  ///
  /// - Parameters:
  ///   - mutation: The mutation. It sets up the context once, during this call.
  ///   - initialValue: The value to begin with.
  ///   - initialContext: The context before the mutation sets it up.
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
  public static func detached<Mutation: DefaultStateRequest>(
    mutation: Mutation,
    initialContext: OperationContext = OperationContext()
  ) -> OperationStore where State == Mutation.State, State: MutationStateProtocol {
    .detached(operation: mutation, initialContext: initialContext)
  }
}

extension OperationClient {
  /// Returns the store of a mutation, and creates it if its path has no store.
  public func store<Mutation: MutationRequest>(
    for mutation: Mutation,
    initialValue: Mutation.MutateValue? = nil
  ) -> OperationStore<MutationState<Mutation.Arguments, Mutation.MutateValue, Mutation.MutateFailure>> {
    self.store(for: mutation, initialState: MutationState(initialValue: initialValue))
  }
}

extension OperationClient.CreateStore {
  /// Creates the store of a mutation.
  public func callAsFunction<Mutation: MutationRequest>(
    for mutation: Mutation,
    initialValue: Mutation.MutateValue? = nil
  ) -> OperationStore<MutationState<Mutation.Arguments, Mutation.MutateValue, Mutation.MutateFailure>> {
    self(for: mutation, initialState: MutationState(initialValue: initialValue))
  }
}
