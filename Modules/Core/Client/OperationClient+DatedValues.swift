public import OperationFoundation

extension OperationClient {
  /// Looks up the store of a query, and creates it with an initial value of a known age if its path has no store.
  ///
  /// A staleness rule such as `.stale(after:)` counts from the date, so that a young value is not fetched again:
  ///
  /// ```swift
  /// let detail = client.store(for: query, initialValue: list.post, updatedAt: list.fetchedAt)
  /// ```
  ///
  /// The value is not a result: its status is idle, `valueUpdateCount` is 0, and it is not persisted. A stored value that
  /// is restored later replaces it, unless it is older.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - initialValue: The value of a new store before its first run.
  ///   - date: When the value was fetched. A date in the future counts as stale, as its age is unknown.
  ///   - fileID: The file of the caller, for warnings of debug builds.
  ///   - line: The line of the caller, for warnings of debug builds.
  /// - Returns: The store; a separate one, with a report, if the path has a store with another operation or state type.
  public func store<Query: QueryRequest>(
    for query: Query,
    initialValue: Query.Value,
    updatedAt date: Date,
    fileID: StaticString = #fileID,
    line: UInt = #line
  ) -> OperationStore<QueryState<Query.Value, Query.Failure>> {
    self.store(
      for: query,
      initialState: QueryState(initialValue: initialValue, updatedAt: date),
      fileID: fileID,
      line: line
    )
  }
}

extension OperationStore {
  /// Creates a store of a query that belongs to no client, with an initial value of a known age.
  ///
  /// - Parameters:
  ///   - query: The query. Its `setup` is called once, by this method.
  ///   - initialValue: The value before the first run.
  ///   - date: When the value was fetched, from which staleness rules count its age.
  ///   - initialContext: The context that `setup` receives.
  /// - Returns: The store.
  public static func detached<Query: QueryRequest>(
    query: Query,
    initialValue: Query.Value,
    updatedAt date: Date,
    initialContext: OperationContext = OperationContext()
  ) -> OperationStore where State == QueryState<Query.Value, Query.Failure> {
    OperationStore(
      operation: query,
      initialState: QueryState(initialValue: initialValue, updatedAt: date),
      initialContext: initialContext
    )
  }
}
