public import OperationFoundation

extension OperationClient {
  /// Fetches the value of a query, whether its store is fresh or not: `store(for: query).fetch()` in one call.
  ///
  /// For a value that may be in the store already, call `ensureValue(for:)`.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - context: Entries for this fetch, which take precedence over those of the store.
  /// - Returns: The value that the fetch returns.
  /// - Throws: The failure of the query, as ``OperationStore/fetch(using:handler:)`` does.
  @discardableResult
  public func fetch<Query: QueryRequest>(
    _ query: Query,
    using context: OperationContext? = nil
  ) async throws(Query.Failure) -> Query.Value {
    try await self.store(for: query, fileID: "", line: 0).fetch(using: context)
  }

  /// Sets the value of a query: `store(for: query).currentValue = value` in one call.
  ///
  /// It is the value that readers see, as fresh as one that a run returns. Runs that are under way go on.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - query: The query.
  public func setValue<Query: QueryRequest>(_ value: Query.Value, for query: Query) {
    self.store(for: query, fileID: "", line: 0).currentValue = value
  }

  /// Fetches the value of a query into its store unless the store is fresh.
  ///
  /// A failure is recorded in the state of the store. If a run that refreshes the value is under way, the method waits
  /// for it instead.
  ///
  /// - Parameter query: The query.
  public func prefetch<Query: QueryRequest>(for query: Query) async {
    await self.prefetch(self.store(for: query, fileID: "", line: 0))
  }

  /// Runs an operation with a default value unless its store is fresh.
  ///
  /// Works like the method for a query.
  ///
  /// - Parameter operation: The operation.
  public func prefetch<Operation: DefaultStateRequest>(for operation: Operation) async {
    await self.prefetch(self.store(for: operation, fileID: "", line: 0))
  }

  /// Runs an operation unless its store is fresh.
  ///
  /// Works like the method for a query.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - initialState: The state of a new store; not evaluated if the path has a store.
  public func prefetch<Operation: StatefulOperationRequest>(
    for operation: Operation,
    initialState: @autoclosure () -> Operation.State
  ) async {
    await self.prefetch(self.store(for: operation, initialState: initialState(), fileID: "", line: 0))
  }

  private func prefetch<State>(_ store: OperationStore<State>) async {
    guard store.isStale else { return }
    if await store.restored(), !store.isStale { return }
    var context = OperationContext()
    context.operationRunCause = .prefetch
    _ = await store.runtime.runOrJoin(.refresh, using: context)
  }

  /// Returns the value of a query: from its store if the store is fresh, otherwise fetched.
  ///
  /// If a run that refreshes the value is under way, the method waits for it instead, and for another one if it turns out that
  /// the value had missed an invalidation.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - refreshesBehind: Whether a stale value is returned at once while a run behind it refreshes the store. The
  ///     method still waits if there is no value, or if the store was invalidated or a source of a derived query.
  /// - Returns: The value.
  /// - Throws: The failure of the query. A run behind a stale value shows its failure in the state alone.
  public func ensureValue<Query: QueryRequest>(
    for query: Query,
    refreshesBehind: Bool = false
  ) async throws(Query.Failure) -> Query.Value {
    let store = self.store(for: query, fileID: "", line: 0)
    var kept = self.kept({ store.currentValue }, in: store, refreshesBehind: refreshesBehind)
    if kept == nil, await store.restored() {
      kept = self.kept({ store.currentValue }, in: store, refreshesBehind: refreshesBehind)
    }
    if let kept, !store.runtime.interceptsCalls { return kept }
    return try await store.runtime.runOrJoin(.value, kept: kept.map { RunSuccess($0) })
      .get(Query.Value.self, Query.Failure.self)
  }

  /// Returns the value of a query with a default value: from its store if the store is fresh, otherwise fetched.
  ///
  /// The default value is never returned: without a fetched value, the query is fetched.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - refreshesBehind: Whether a stale value is returned at once while a run behind it refreshes the store.
  /// - Returns: The value.
  /// - Throws: The failure of the query, as for a query without a default value.
  public func ensureValue<Value, Failure, Query: DefaultStateRequest>(
    for query: Query,
    refreshesBehind: Bool = false
  ) async throws(Failure) -> Value where Query.State == DefaultOperationState<QueryState<Value, Failure>> {
    let store = self.store(for: query, fileID: "", line: 0)
    let fetched = { store.valueUpdateCount > 0 ? store.currentValue : nil }
    var kept = self.kept(fetched, in: store, refreshesBehind: refreshesBehind)
    if kept == nil, await store.restored() {
      kept = self.kept(fetched, in: store, refreshesBehind: refreshesBehind)
    }
    if let kept, !store.runtime.interceptsCalls { return kept }
    return try await store.runtime.runOrJoin(.value, kept: kept.map { RunSuccess($0) }).get(Value.self, Failure.self)
  }

  /// Returns the value of a store if it is fresh, or if it may be returned while a run refreshes it.
  private func kept<State, Value>(
    _ value: () -> Value?,
    in store: OperationStore<State>,
    refreshesBehind: Bool
  ) -> Value? {
    // Freshness is checked first: a value that was read before the check could be older than the value that is fresh.
    if !store.isStale, let value = value() { return value }
    guard refreshesBehind, store.stateForRead != nil, let value = value() else { return nil }
    if store.runtime.mayRefresh(because: .refreshBehind) { store.runtime.refreshBehind(because: .refreshBehind) }
    return value
  }
}

extension OperationClient {
  /// Counts the stores that have a run under way, at paths that start with `path`.
  ///
  /// - Parameter path: The prefix; the empty path matches all stores.
  /// - Returns: The number of these stores.
  /// - Complexity: O(*n*) in the number of matching stores.
  public func isFetching(matching path: OperationPath = []) -> Int {
    self.storage.runtimes(matching: path).count { $0.isLoading }
  }

  /// Cancels the runs of the stores at paths that start with `path`, and waits until their work has ended.
  ///
  /// What the runs have changed in the states is undone. Callers of the runs receive their failures, possibly before
  /// the work has ended. It returns early if the current task is cancelled.
  ///
  /// - Parameter path: The prefix; the empty path matches all stores.
  /// - Complexity: O(*n*) in the number of matching stores and their runs.
  public func cancel(matching path: OperationPath = []) async {
    let runtimes = self.storage.runtimes(matching: path)
    let endings = runtimes.map { $0.cancelRuns() }
    await withDiscardingTaskGroup { group in
      for ended in endings { group.addTask { await ended() } }
    }
  }
}

// MARK: - Results

extension OperationClient {
  /// Calls `receive` with the results of all runs of the client's stores, also of stores that are made later.
  ///
  /// Use it for what concerns every operation, such as a report of errors:
  ///
  /// ```swift
  /// let subscription = client.onResult { event in
  ///   if let error = event.error { log("\(event.path): \(error)") }
  /// }
  /// ```
  ///
  /// A run reports each value that it yields, and at its end the value that it returns or the error of its last
  /// attempt. It reports once, however many callers and subscribers wait for it. A cancelled run has no result, and
  /// setting a value is no result either. Without such a closure this costs nothing.
  ///
  /// - Parameters:
  ///   - path: The prefix; the empty path matches all stores.
  ///   - receive: Called for each store in event order, with no lock held, on the thread that delivers the event, after
  ///     the subscribers have received the state. Calls for different stores may run at the same time.
  /// - Returns: The subscription. Calls stop when it is cancelled or dropped. It does not keep the client alive.
  /// - Complexity: O(*n*) in the number of matching stores.
  public func onResult(
    matching path: OperationPath = [],
    _ receive: @escaping @Sendable (OperationResultEvent) -> Void
  ) -> OperationSubscription {
    self.observe(matching: path, with: ResultObserver(receive))
  }

  /// Calls `receive` with the errors of all runs of the client's stores, also of stores that are made later.
  ///
  /// See ``onResult(matching:_:)``. An attempt that is followed by another one has no error here.
  ///
  /// ```swift
  /// let subscription = client.onError { error, event in toasts.show("\(event.operationName): \(error)") }
  /// ```
  ///
  /// - Parameters:
  ///   - path: The prefix; the empty path matches all stores.
  ///   - receive: Called for each store in event order, with no lock held, on the thread that delivers the event.
  /// - Returns: The subscription. Calls stop when it is cancelled or dropped. It does not keep the client alive.
  /// - Complexity: O(*n*) in the number of matching stores.
  public func onError(
    matching path: OperationPath = [],
    _ receive: @escaping @Sendable (any Error, OperationResultEvent) -> Void
  ) -> OperationSubscription {
    self.onResult(matching: path) { event in
      if let error = event.error { receive(error, event) }
    }
  }
}

/// A result of a run, as ``OperationClient/onResult(matching:_:)`` reports it.
public struct OperationResultEvent: Sendable {
  /// The path of the operation.
  public let path: OperationPath

  /// The ``OperationRequest/operationName`` of the operation.
  public let operationName: String

  /// The value that the run has yielded or returned, or its error.
  public let result: Result<any Sendable, any Error>

  /// The context of the event, with the identifier of the run.
  public let context: OperationContext

  /// The error; nil for a value.
  public var error: (any Error)? { if case .failure(let error) = self.result { error } else { nil } }

  /// Whether the run has ended with this result, and has not only yielded it.
  public var isFinal: Bool { self.context.operationResultUpdateReason == .returnedFinalResult }

  fileprivate init(_ outcome: StoreOutcome, _ event: StoreEvent) {
    self.path = event.path
    self.operationName = event.operationName
    self.context = event.context
    self.result =
      if let error = outcome.error { .failure(error) } else { .success(outcome.base.anyValue ?? ()) }
  }
}

/// Passes the results of runs on.
private final class ResultObserver: StoreObserver {
  private let onResult: @Sendable (OperationResultEvent) -> Void

  init(_ onResult: @escaping @Sendable (OperationResultEvent) -> Void) {
    self.onResult = onResult
  }

  var observedEvents: StoreEvent.Kinds { [.runs, .yields] }

  func receive(_ event: StoreEvent, of store: StoreReference) {
    switch event.what {
    case .yielded(let outcome): self.onResult(OperationResultEvent(outcome, event))
    case .runEnded(let end):
      if let outcome = end.outcome { self.onResult(OperationResultEvent(outcome, event)) }
    default: break
    }
  }
}

// MARK: - Dated values

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
