public import OperationCore

extension OperationClient {
  /// Returns the store of a paginated request, and creates it if its path has no store.
  ///
  /// - Parameters:
  ///   - query: The request.
  ///   - initialValue: The pages that a new store begins with.
  ///   - fileID: The file of the caller, for warnings of debug builds.
  ///   - line: The line of the caller, for warnings of debug builds.
  /// - Returns: The store that the client keeps at the path of the request.
  @inlinable
  public func store<Query: PaginatedRequest>(
    for query: Query,
    initialValue: @autoclosure () -> Pages<Query.PageID, Query.PageValue> = [],
    fileID: StaticString = #fileID,
    line: UInt = #line
  ) -> OperationStore<PaginatedState<Query.PageID, Query.PageValue, Query.PageFailure>> {
    var isNew = false
    func initialState() -> Query.State {
      isNew = true
      return PaginatedState(for: query, initialValue: initialValue())
    }
    let store = self.store(for: query, initialState: initialState(), fileID: fileID, line: line)
    return isNew ? store.bindingPageOrder() : store
  }

  /// Loads the pages of a paginated request into its store, unless they are fresh. The state stores a failure.
  ///
  /// - Parameter query: The request.
  public func prefetch<Query: PaginatedRequest>(for query: Query) async {
    // Creates the store if needed, and binds it to its context, which the call below does not do.
    let store = self.store(for: query, fileID: "", line: 0)
    await self.prefetch(for: query, initialState: store.state)
  }

  /// Returns the pages of a paginated request's store, after a run if they are stale or if the store has none.
  ///
  /// If the pages are being restored, it waits for them first.
  ///
  /// - Parameter query: The request.
  /// - Returns: The pages, with optimistic updates applied.
  /// - Throws: The error of the request.
  public func ensureValue<Query: PaginatedRequest>(
    for query: Query
  ) async throws(Query.PageFailure) -> Pages<Query.PageID, Query.PageValue> {
    let store = self.store(for: query, fileID: "", line: 0)
    let isDue = { store.isStale || store.stateWithoutLayers.currentValue.isEmpty }
    if isDue() {
      let wasRestored = await store.restored()
      if !wasRestored || isDue() {
        try await store.run()
        // The store keeps pages that were handed over during the run. They may be invalidated.
        if store.isInvalidated { try await store.run() }
      }
    }
    return store.currentValue
  }
}

extension OperationClient.CreateStore {
  /// Creates the store of a paginated request.
  ///
  /// - Parameters:
  ///   - query: The request.
  ///   - initialValue: The pages to begin with.
  /// - Returns: The store, which the client does not keep.
  @inlinable
  public func callAsFunction<Query: PaginatedRequest>(
    for query: Query,
    initialValue: Pages<Query.PageID, Query.PageValue> = []
  ) -> OperationStore<PaginatedState<Query.PageID, Query.PageValue, Query.PageFailure>> {
    self(for: query, initialState: PaginatedState(for: query, initialValue: initialValue)).bindingPageOrder()
  }
}
