public import OperationCore

extension OperationClient {
  /// Returns the store of a mutation, and creates it if its path has no store.
  ///
  /// - Parameters:
  ///   - mutation: The mutation.
  ///   - initialValue: The value that a new store begins with.
  ///   - fileID: The file of the caller, for warnings of debug builds.
  ///   - line: The line of the caller, for warnings of debug builds.
  /// - Returns: The store that the client keeps at the path of the mutation.
  public func store<Mutation: MutationRequest>(
    for mutation: Mutation,
    initialValue: Mutation.MutateValue? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line
  ) -> OperationStore<MutationState<Mutation.Arguments, Mutation.MutateValue, Mutation.MutateFailure>> {
    self.store(
      for: mutation,
      initialState: MutationState(initialValue: initialValue),
      fileID: fileID,
      line: line
    )
  }

  /// Calls a mutation and waits for its value: `store(for: mutation).mutate(with: arguments)` in one call.
  ///
  /// - Parameters:
  ///   - mutation: The mutation.
  ///   - arguments: The arguments of the call.
  ///   - context: Entries for this call, which take precedence over those of the store.
  /// - Returns: The value of the mutation.
  /// - Throws: The error of the mutation, as `OperationStore.mutate(with:using:handler:)` does.
  @discardableResult
  nonisolated(nonsending) public func mutate<Mutation: MutationRequest>(
    _ mutation: Mutation,
    with arguments: Mutation.Arguments,
    using context: OperationContext? = nil
  ) async throws(Mutation.MutateFailure) -> Mutation.MutateValue {
    try await self.store(for: mutation, fileID: "", line: 0).mutate(with: arguments, using: context)
  }
}

extension OperationClient.CreateStore {
  /// Creates the store of a mutation.
  ///
  /// - Parameters:
  ///   - mutation: The mutation.
  ///   - initialValue: The value to begin with.
  /// - Returns: The store, which the client does not keep.
  public func callAsFunction<Mutation: MutationRequest>(
    for mutation: Mutation,
    initialValue: Mutation.MutateValue? = nil
  ) -> OperationStore<MutationState<Mutation.Arguments, Mutation.MutateValue, Mutation.MutateFailure>> {
    self(for: mutation, initialState: MutationState(initialValue: initialValue))
  }
}
