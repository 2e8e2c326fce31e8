extension OperationClient {
  /// Marks the stores at paths that start with `path` stale, whatever their rules say, and reruns those with subscribers.
  ///
  /// What begins afterwards is never served by a run from before: a run that is under way does not count as fresh, and the
  /// store is run again for its subscribers when that has ended. Stores whose automatic running is disabled, or whose
  /// specification for it does not hold, are marked and not rerun.
  ///
  /// ```swift
  /// client.invalidate(matching: ["posts"])                  // Goes on at once.
  /// await client.invalidate(matching: ["posts"]).settled()  // Waits for the reruns.
  /// ```
  ///
  /// - Parameters:
  ///   - path: The prefix; the empty path matches all.
  ///   - isolation: The caller's actor, which the reruns leave.
  /// - Returns: What tells when the reruns have settled.
  /// - Complexity: O(*n*) in the number of stores that match.
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

  /// Cancels the runs of the stores at paths that start with `path`, and returns when their work has ended.
  ///
  /// The stores are as they were before the runs. Callers of the runs get their failures, perhaps before the work has ended.
  /// Work that other stores share goes on for them, and is not waited for. Returns early when the current task is cancelled.
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
    // In this order: a value that is read before might be older than the one that has made the store fresh.
    if !store.isStale, let value = store.currentValue { return value }
    return try await store.runtime.runOrJoin().get()
  }

  /// The value of a query with a default value: the one of its store when that is fresh, and otherwise a fetched one.
  ///
  /// - Throws: What the query throws.
  public func ensureValue<Value, Failure, Query: DefaultStateRequest>(
    for query: Query
  ) async throws(Failure) -> Value where Query.State == DefaultOperationState<QueryState<Value, Failure>> {
    let store = self.store(for: query)
    if !store.isStale, store.valueUpdateCount > 0 { return store.currentValue }
    return try await store.runtime.runOrJoin().get()
  }
}

/// The reruns that an invalidation has caused.
public struct OperationInvalidation: Sendable {
  struct Store: Sendable {
    let runtime: any ErasedRuntime
    let number: Int
  }

  let stores: [Store]

  /// Waits until the reruns have settled, or the current task is cancelled.
  ///
  /// It does not wait for stores that nobody subscribes to, as those are not rerun.
  public func settled() async {
    await withDiscardingTaskGroup { group in
      for store in self.stores {
        group.addTask { await store.runtime.settled(afterInvalidation: store.number) }
      }
    }
  }
}
