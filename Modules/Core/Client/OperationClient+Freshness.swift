extension OperationClient {
  /// Marks the stores at paths that start with `path` stale, whatever their rules say, and reruns those with subscribers.
  ///
  /// A run that is under way does not count as fresh: the store is run again when that has ended.
  public func invalidate(matching path: OperationPath = [], isolation: (any Actor)? = #isolation) {
    self.markInvalidated(self.storage.runtimes(matching: path), isEnqueued: isolation != nil)
  }

  /// Marks the stores at paths that start with `path` stale, whatever their rules say, reruns those with subscribers, and
  /// returns when those runs have settled or the task is cancelled.
  public func invalidate(matching path: OperationPath = []) async {
    let runtimes = self.storage.runtimes(matching: path)
    self.markInvalidated(runtimes, isEnqueued: false)
    await withDiscardingTaskGroup { group in
      for runtime in runtimes { group.addTask { await runtime.settledAfterInvalidation() } }
    }
  }

  private func markInvalidated(_ runtimes: [any ErasedRuntime], isEnqueued: Bool) {
    for runtime in runtimes { runtime.invalidate() }
    for runtime in runtimes { runtime.rerunAfterInvalidation(isEnqueued: isEnqueued) }
  }

  /// Cancels the runs of the stores at paths that start with `path`, and returns when they have ended.
  ///
  /// The stores are as they were before the runs. Callers of the runs get their failures.
  public func cancel(matching path: OperationPath = []) async {
    let runtimes = self.storage.runtimes(matching: path)
    let endings = runtimes.map { $0.cancelRuns() }
    await withDiscardingTaskGroup { group in
      for ended in endings { group.addTask { await ended() } }
    }
  }

  /// Puts the stores at paths that start with `path` back to their initial states, and cancels their runs.
  public func resetStores(matching path: OperationPath = []) {
    for runtime in self.storage.runtimes(matching: path) { runtime.reset(using: nil) }
  }

  /// How many of the stores at paths that start with `path` have a run under way.
  public func isFetching(matching path: OperationPath = []) -> Int {
    self.storage.runtimes(matching: path).count { $0.isLoading }
  }
}

extension OperationClient {
  /// Fetches the value of a query into its store, unless it is fresh. A failure shows in the state.
  public func prefetch<Query: QueryRequest>(for query: Query) async {
    await self.prefetch(self.store(for: query))
  }

  /// Runs an operation with a default value into its store, unless it is fresh. A failure shows in the state.
  public func prefetch<Operation: DefaultStateRequest>(for operation: Operation) async {
    await self.prefetch(self.store(for: operation))
  }

  /// Runs an operation into its store, unless it is fresh. A failure shows in the state.
  public func prefetch<Operation: StatefulOperationRequest>(
    for operation: Operation,
    initialState: @autoclosure () -> Operation.State
  ) async {
    await self.prefetch(self.store(for: operation, initialState: initialState()))
  }

  private func prefetch<State>(_ store: OperationStore<State>) async {
    if store.isStale { _ = await store.runtime.runOrJoin() }
  }

  /// The value of a query: the one of its store when that is fresh, and otherwise a fetched one.
  ///
  /// - Throws: What the query throws.
  public func ensureValue<Query: QueryRequest>(for query: Query) async throws(Query.Failure) -> Query.Value {
    let store = self.store(for: query)
    if let value = store.currentValue, !store.isStale { return value }
    return try await store.runtime.runOrJoin().get()
  }

  /// The value of a query with a default value: the one of its store when that is fresh, and otherwise a fetched one.
  ///
  /// - Throws: What the query throws.
  public func ensureValue<Value, Failure, Query: DefaultStateRequest>(
    for query: Query
  ) async throws(Failure) -> Value where Query.State == DefaultOperationState<QueryState<Value, Failure>> {
    let store = self.store(for: query)
    if store.valueUpdateCount > 0, !store.isStale { return store.currentValue }
    return try await store.runtime.runOrJoin().get()
  }
}
