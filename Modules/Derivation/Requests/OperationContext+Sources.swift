public import OperationCore
public import OperationPagination

extension OperationContext {
  /// Returns the value of a query, which becomes a source of the derived query that runs with this context.
  ///
  /// If the store of the query in the client is fresh, the call returns its value, with optimistic updates applied.
  /// Otherwise it waits for a run of the store: the one under way, or a new one. A source is refreshed once for one run
  /// of the derived query. A derived query that runs because a source has changed uses the values of its other sources
  /// unless a rule says that they are stale.
  ///
  /// Outside a run of a ``OperationCore/QueryRequest/derived()`` query, the call reads the store of the client all the
  /// same. Without a client it runs the query.
  ///
  /// - Parameter query: The query.
  /// - Returns: The value.
  /// - Throws: The failure of the query, also one that was there before the call. `OperationCycleError` if the query
  ///   waits for the caller: if the failure type cannot represent that, the last value is returned.
  /// - Precondition: A query in a cycle has a value, or a failure type that can represent `OperationCycleError`.
  public nonisolated(nonsending) func value<Query: QueryRequest>(
    of query: Query
  ) async throws(Query.Failure) -> Query.Value {
    try await self.value(of: query, selecting: nil)
  }

  nonisolated(nonsending) func value<Query: QueryRequest>(
    of query: Query,
    selecting selection: Selection<Query.Value?>?
  ) async throws(Query.Failure) -> Query.Value {
    guard let client = self.operationClient else { return try await self.run(query) }
    guard let evaluation = self.evaluation else { return try await client.ensureValue(for: query) }
    let source = client.source { $0.store(for: query, fileID: "", line: 0) }
    let reading = await evaluation.read(source, selecting: selection, in: self)
    if let value = try reading.value.get() { return value }
    // The store was reset after the run.
    if let value = try reading.outcome?.get() { return value }
    return try await client.ensureValue(for: query)
  }

  /// Returns the value of an operation with a default value, which becomes a source of the derived query that runs with
  /// this context.
  ///
  /// It works as for a query.
  ///
  /// - Parameter operation: The operation.
  /// - Returns: The value.
  /// - Throws: The failure of the operation, as for a query.
  public nonisolated(nonsending) func value<Operation: DefaultStateRequest>(
    of operation: Operation
  ) async throws(Operation.Failure) -> Operation.State.StateValue {
    try await self.value(of: operation, initialState: operation.initialState)
  }

  /// Returns the value of an operation of any kind, which becomes a source of the derived query that runs with this
  /// context.
  ///
  /// It works as for a query. An operation that runs only on request, as a mutation, is read as it is.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - initialState: The state of a new store; not evaluated if the path has a store.
  /// - Returns: The value of the state.
  /// - Throws: The failure of the operation, as for a query.
  public nonisolated(nonsending) func value<Operation: StatefulOperationRequest>(
    of operation: Operation,
    initialState: @autoclosure () -> Operation.State
  ) async throws(Operation.Failure) -> Operation.State.StateValue {
    try await self.value(of: operation, initialState: initialState(), selecting: nil)
  }

  nonisolated(nonsending) func value<Operation: StatefulOperationRequest>(
    of operation: Operation,
    initialState: @autoclosure () -> Operation.State,
    selecting selection: Selection<Operation.State.StateValue>?
  ) async throws(Operation.Failure) -> Operation.State.StateValue {
    guard let client = self.operationClient else {
      return try await self.valueOfRun(
        of: .detached(operation: operation, initialState: initialState(), initialContext: self.leavingRun)
      )
    }
    return try await self.value(
      of: client.source { $0.store(for: operation, initialState: initialState(), fileID: "", line: 0) },
      selecting: selection
    )
  }

  /// Returns the pages of a paginated request, which becomes a source of the derived query that runs with this context.
  ///
  /// It works as for a query. A stale list is read after all its pages were fetched again.
  ///
  /// - Parameter request: The request.
  /// - Returns: The pages.
  /// - Throws: The failure of the request, as for a query.
  public nonisolated(nonsending) func value<Request: PaginatedRequest>(
    of request: Request
  ) async throws(Request.PageFailure) -> Pages<Request.PageID, Request.PageValue> {
    try await self.value(of: request, selecting: nil)
  }

  nonisolated(nonsending) func value<Request: PaginatedRequest>(
    of request: Request,
    selecting selection: Selection<Pages<Request.PageID, Request.PageValue>>?
  ) async throws(Request.PageFailure) -> Pages<Request.PageID, Request.PageValue> {
    guard let client = self.operationClient else {
      return try await self.valueOfRun(of: .detached(query: request, initialContext: self.leavingRun))
    }
    return try await self.value(
      of: client.source { $0.store(for: request, fileID: "", line: 0) },
      selecting: selection
    )
  }

  private nonisolated(nonsending) func value<State>(
    of source: FoundStore<State>,
    selecting selection: Selection<State.StateValue>?
  ) async throws(State.Failure) -> State.StateValue {
    if let evaluation = self.evaluation {
      return try await evaluation.read(source, selecting: selection, in: self).value.get()
    }
    let store = source.store
    if store.allowsAutomaticRuns, store.isStale || store.valueUpdateCount == 0 { _ = try await store.runOrJoin().get() }
    return store.currentValue
  }

  private nonisolated(nonsending) func valueOfRun<State>(
    of store: OperationStore<State>
  ) async throws(State.Failure) -> State.StateValue {
    if store.allowsAutomaticRuns { try await store.run() }
    return store.currentValue
  }

  /// Returns the states of queries, which become sources of the derived query that runs with this context.
  ///
  /// The call waits for nothing. The derived query runs again when one of the states changes, also when a run of it
  /// begins or ends. While the derived query has subscribers, so have these stores: a stale one runs by itself.
  ///
  /// - Parameter query: The queries.
  /// - Returns: Their states, with optimistic updates applied. Without a client, states without a value.
  public func states<each Query: QueryRequest>(
    of query: repeat each Query
  ) -> (repeat QueryState<(each Query).Value, (each Query).Failure>) {
    (repeat self.state(of: each query))
  }

  private func state<Query: QueryRequest>(of query: Query) -> QueryState<Query.Value, Query.Failure> {
    guard let client = self.operationClient else { return QueryState() }
    let source = client.source { $0.store(for: query, fileID: "", line: 0) }
    return self.evaluation?.state(of: source, in: self) ?? source.store.state
  }

  private nonisolated(nonsending) func run<Query: QueryRequest>(
    _ query: Query
  ) async throws(Query.Failure) -> Query.Value {
    try await OperationRunner(operation: query, initialContext: self.leavingRun).run()
  }

  /// A copy of this context without the entries that belong to the run or to its store.
  private var leavingRun: OperationContext {
    var context = self
    context.leaveRun()
    context.operationControllers = []
    context.removeEventHandlers()
    return context
  }
}

extension OperationClient {
  /// Looks a store up that a derived query is about to read, again if the client has lost it meanwhile: a store that was
  /// cleared between its look-up and its use would never become a source.
  ///
  /// A cache may drop each store at once. So the look-up is repeated a few times only.
  fileprivate func source<State>(_ lookUp: (OperationClient) -> OperationStore<State>) -> FoundStore<State> {
    var store = lookUp(self)
    for _ in 0..<3 {
      if store.isInClient { return FoundStore(store: store, wasInClient: true) }
      store = lookUp(self)
    }
    return FoundStore(store: store, wasInClient: store.isInClient)
  }
}
