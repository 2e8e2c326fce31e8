public import OperationCore

extension OperationStore {
  /// Creates a store of a paginated request, which no client knows.
  ///
  /// - Parameters:
  ///   - query: The request; it sets up the context once, now.
  ///   - initialValue: The pages to begin with.
  ///   - initialContext: The context before the request sets it up.
  @inlinable
  public static func detached<Query: PaginatedRequest>(
    query: Query,
    initialValue: Pages<Query.PageID, Query.PageValue> = [],
    initialContext: OperationContext = OperationContext()
  ) -> OperationStore where State == PaginatedState<Query.PageID, Query.PageValue, Query.PageFailure> {
    let state = PaginatedState(for: query, initialValue: initialValue)
    return .detached(operation: query, initialState: state, initialContext: initialContext).inOrder()
  }

  /// Creates a store of a paginated request with default pages, which no client knows.
  @inlinable
  public static func detached<Query: DefaultStateRequest>(
    query: Query,
    initialContext: OperationContext = OperationContext()
  ) -> OperationStore where State == Query.State, State: PaginatedStateProtocol {
    .detached(operation: query, initialContext: initialContext).inOrder()
  }
}

extension OperationStore where State: PaginatedStateProtocol {
  /// This store, whose state knows from now on where its context is to be had.
  @inlinable
  func inOrder() -> OperationStore {
    self.state.paginatedState.order.bind { [weak self] in self?.context }
    return self
  }
}
