extension OperationClient {
  /// Marks the stores at paths that start with `path` as stale, and reruns those with subscribers.
  ///
  /// The stores are stale regardless of their staleness rules. A call made afterwards never receives the result of an
  /// earlier run: a run that is under way does not make the store fresh, and when it has ended, the store runs again
  /// for its subscribers. Stores whose automatic running is disabled, or whose specification for it is not satisfied,
  /// are marked but not rerun.
  ///
  /// ```swift
  /// client.invalidate(matching: ["posts"])                  // Continues immediately.
  /// await client.invalidate(matching: ["posts"]).settled()  // Waits for the reruns.
  /// ```
  ///
  /// - Parameters:
  ///   - path: The prefix; the empty path matches all stores.
  ///   - isolation: The caller's actor. The reruns leave it.
  /// - Returns: A value whose ``OperationInvalidation/settled()`` waits for the reruns.
  /// - Complexity: O(*n*) in the number of matching stores.
  @discardableResult
  public func invalidate(
    matching path: OperationPath = [],
    isolation: (any Actor)? = #isolation
  ) -> OperationInvalidation {
    let runtimes = self.storage.runtimes(matching: path)
    let stores = runtimes.map { OperationInvalidation.Store(runtime: $0, number: $0.invalidate()) }
    for runtime in runtimes { runtime.rerunAfterInvalidation(isEnqueued: isolation != nil) }
    return OperationInvalidation(stores: stores)
  }

  /// Cancels the runs of the stores at paths that start with `path`, and waits until their work has ended.
  ///
  /// The stores return to their states from before the runs. Callers of the runs receive their failures, possibly
  /// before the work has ended. Work shared with other stores continues for those stores, and this method does
  /// not wait for it. It returns early if the current task is cancelled.
  public func cancel(matching path: OperationPath = []) async {
    let runtimes = self.storage.runtimes(matching: path)
    let endings = runtimes.map { $0.cancelRuns() }
    await withDiscardingTaskGroup { group in
      for ended in endings { group.addTask { await ended() } }
    }
  }

  /// Resets the stores at paths that start with `path` to their initial states, and cancels their runs.
  public func resetStores(matching path: OperationPath = []) {
    for runtime in self.storage.runtimes(matching: path) { runtime.reset(using: nil) }
  }

  /// Returns the number of stores at paths that start with `path` that have a run under way.
  public func isFetching(matching path: OperationPath = []) -> Int {
    self.storage.runtimes(matching: path).count { $0.isLoading }
  }
}

extension OperationClient {
  /// Fetches the value of a query into its store unless the store is fresh. A failure is recorded in the state.
  public func prefetch<Query: QueryRequest>(for query: Query) async {
    await self.prefetch(self.store(for: query))
  }

  /// Runs an operation with a default value unless its store is fresh. A failure is recorded in the state.
  public func prefetch<Operation: DefaultStateRequest>(for operation: Operation) async {
    await self.prefetch(self.store(for: operation))
  }

  /// Runs an operation unless its store is fresh. A failure is recorded in the state.
  public func prefetch<Operation: StatefulOperationRequest>(
    for operation: Operation,
    initialState: @autoclosure () -> Operation.State
  ) async {
    await self.prefetch(self.store(for: operation, initialState: initialState()))
  }

  private func prefetch<State>(_ store: OperationStore<State>) async {
    if store.isStale { _ = await store.runtime.runOrJoin() }
  }

  /// Returns the value of a query: from its store if the store is fresh, otherwise fetched.
  ///
  /// - Throws: The failure of the query.
  public func ensureValue<Query: QueryRequest>(for query: Query) async throws(Query.Failure) -> Query.Value {
    let store = self.store(for: query)
    // Freshness first: a value read before the check could be older than the value that made the store fresh.
    if !store.isStale, let value = store.currentValue { return value }
    return try await store.runtime.runOrJoin().get()
  }

  /// Returns the value of a query with a default value: from its store if the store is fresh, otherwise fetched.
  ///
  /// - Throws: The failure of the query.
  public func ensureValue<Value, Failure, Query: DefaultStateRequest>(
    for query: Query
  ) async throws(Failure) -> Value where Query.State == DefaultOperationState<QueryState<Value, Failure>> {
    let store = self.store(for: query)
    if !store.isStale, store.valueUpdateCount > 0 { return store.currentValue }
    return try await store.runtime.runOrJoin().get()
  }
}

/// The reruns caused by an invalidation.
public struct OperationInvalidation: Sendable {
  struct Store: Sendable {
    let runtime: any ErasedRuntime
    let number: Int
  }

  let stores: [Store]

  /// Waits until the reruns have settled or the current task is cancelled.
  ///
  /// Stores without subscribers are not rerun, so this method does not wait for them.
  public func settled() async {
    await withDiscardingTaskGroup { group in
      for store in self.stores {
        group.addTask { await store.runtime.settled(afterInvalidation: store.number) }
      }
    }
  }
}
