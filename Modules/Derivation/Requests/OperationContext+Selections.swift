public import OperationCore
public import OperationPagination

extension OperationContext {
  /// Returns a part of the value of a query, which becomes a source of the derived query that runs with this context.
  ///
  /// ```swift
  /// let name = try await context.value(of: UserQuery(id: 1), select: \.name)
  /// ```
  ///
  /// It works as ``value(of:)-(Query)``, but a change of the source runs the derived query again only if the part has
  /// changed. If the part is equal, the derived value keeps its date. It is stale when its source is stale or was
  /// invalidated, and unconfirmed while an optimistic update is in its source.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - select: Returns the part: a key path, or a closure that reads nothing but the value. Called for each change of
  ///     the source by the thread that has made the change, with no lock held. So it should be cheap.
  /// - Returns: The part of the value.
  /// - Throws: The failure of the query, as ``value(of:)-(Query)`` does.
  public nonisolated(nonsending) func value<Query: QueryRequest, Selected: Equatable & Sendable>(
    of query: Query,
    select: @escaping @Sendable (Query.Value) -> Selected
  ) async throws(Query.Failure) -> Selected {
    select(try await self.value(of: query, selecting: Selection { $0.map(select) }))
  }

  /// Returns a part of the value of an operation with a default value, which becomes a source of the derived query that
  /// runs with this context.
  ///
  /// It works as for a query.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - select: Returns the part. Called for each change of the source.
  /// - Returns: The part of the value.
  /// - Throws: The failure of the operation, as for a query.
  public nonisolated(nonsending) func value<Operation: DefaultStateRequest, Selected: Equatable & Sendable>(
    of operation: Operation,
    select: @escaping @Sendable (Operation.State.StateValue) -> Selected
  ) async throws(Operation.Failure) -> Selected {
    try await self.value(of: operation, initialState: operation.initialState, select: select)
  }

  /// Returns a part of the value of an operation of any kind, which becomes a source of the derived query that runs with
  /// this context.
  ///
  /// It works as for a query. An operation that runs only on request, as a mutation, is read as it is.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - initialState: The state of a new store; not evaluated if the path has a store.
  ///   - select: Returns the part. Called for each change of the source.
  /// - Returns: The part of the value of the state.
  /// - Throws: The failure of the operation, as for a query.
  public nonisolated(nonsending) func value<Operation: StatefulOperationRequest, Selected: Equatable & Sendable>(
    of operation: Operation,
    initialState: @autoclosure () -> Operation.State,
    select: @escaping @Sendable (Operation.State.StateValue) -> Selected
  ) async throws(Operation.Failure) -> Selected {
    select(try await self.value(of: operation, initialState: initialState(), selecting: Selection(select)))
  }

  /// Returns a part of the pages of a paginated request, which becomes a source of the derived query that runs with this
  /// context.
  ///
  /// It works as for a query.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - select: Returns the part. Called for each change of the source.
  /// - Returns: The part of the pages.
  /// - Throws: The failure of the request, as for a query.
  public nonisolated(nonsending) func value<Request: PaginatedRequest, Selected: Equatable & Sendable>(
    of request: Request,
    select: @escaping @Sendable (Pages<Request.PageID, Request.PageValue>) -> Selected
  ) async throws(Request.PageFailure) -> Selected {
    select(try await self.value(of: request, selecting: Selection(select)))
  }
}
