public import OperationCore

extension OperationClient {
  /// The store of a paginated request, which is made when there is none at its path.
  ///
  /// - Parameters:
  ///   - query: The request.
  ///   - initialValue: The pages that a new store begins with.
  @inlinable
  public func store<Query: PaginatedRequest>(
    for query: Query,
    initialValue: @autoclosure () -> Pages<Query.PageID, Query.PageValue> = []
  ) -> OperationStore<PaginatedState<Query.PageID, Query.PageValue, Query.PageFailure>> {
    var isNew = false
    func initialState() -> Query.State {
      isNew = true
      return PaginatedState(for: query, initialValue: initialValue())
    }
    let store = self.store(for: query, initialState: initialState())
    return isNew ? store.inOrder() : store
  }

  /// Loads the pages of a paginated request into its store, unless they are fresh. A failure shows in the state.
  @inlinable
  public func prefetch<Query: PaginatedRequest>(for query: Query) async {
    // Makes the store where there is none, with what it needs to know.
    let store = self.store(for: query)
    await self.prefetch(for: query, initialState: store.state)
  }

  /// The pages of a paginated request: those of its store when they are fresh, and otherwise the ones that a run brings.
  ///
  /// - Throws: What the request throws.
  @inlinable
  public func ensureValue<Query: PaginatedRequest>(
    for query: Query
  ) async throws(Query.PageFailure) -> Pages<Query.PageID, Query.PageValue> {
    let store = self.store(for: query)
    if store.isStale || store.stateWithoutLayers.currentValue.isEmpty { try await store.run() }
    return store.currentValue
  }
}

extension OperationClient.CreateStore {
  /// Creates the store of a paginated request.
  @inlinable
  public func callAsFunction<Query: PaginatedRequest>(
    for query: Query,
    initialValue: Pages<Query.PageID, Query.PageValue> = []
  ) -> OperationStore<PaginatedState<Query.PageID, Query.PageValue, Query.PageFailure>> {
    self(for: query, initialState: PaginatedState(for: query, initialValue: initialValue)).inOrder()
  }
}
