public import OperationCore

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
