public import OperationCore

extension OperationStore {
  /// Creates a store of a paginated request that belongs to no client.
  ///
  /// - Parameters:
  ///   - query: The request. It sets up the context once, during this call.
  ///   - initialValue: The pages to begin with.
  ///   - initialContext: The context before the request sets it up.
  /// - Returns: The store, before its first run.
  @inlinable
  public static func detached<Query: PaginatedRequest>(
    query: Query,
    initialValue: Pages<Query.PageID, Query.PageValue> = [],
    initialContext: OperationContext = OperationContext()
  ) -> OperationStore where State == PaginatedState<Query.PageID, Query.PageValue, Query.PageFailure> {
    let state = PaginatedState(for: query, initialValue: initialValue)
    return .detached(operation: query, initialState: state, initialContext: initialContext).bindingPageOrder()
  }

  /// Creates a store of a paginated request with default pages that belongs to no client.
  ///
  /// - Parameters:
  ///   - query: The request. It sets up the context once, during this call.
  ///   - initialContext: The context before the request sets it up.
  /// - Returns: The store, before its first run.
  @inlinable
  public static func detached<Query: DefaultStateRequest>(
    query: Query,
    initialContext: OperationContext = OperationContext()
  ) -> OperationStore where State == Query.State, State: PaginatedStateProtocol {
    .detached(operation: query, initialContext: initialContext).bindingPageOrder()
  }
}

extension OperationStore where State: PaginatedStateProtocol {
  /// Returns this store, after binding the page order of its state to its context.
  @usableFromInline
  func bindingPageOrder() -> OperationStore {
    self.state.paginatedState.order.bind { [weak self] in self?.context }
    return self
  }
}
