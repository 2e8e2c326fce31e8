public import OperationCore
public import OperationPagination

extension SharedOperation where State: PaginatedStateProtocol {
  /// Loads the page after the last one and waits for it. Loads the initial page if there are no pages.
  ///
  /// - Parameters:
  ///   - context: Entries for this run, which take precedence over the store's context.
  ///   - handler: Receives the events of this run only.
  /// - Returns: The page; nil if no page comes after the last one.
  /// - Throws: The error of the operation, or an ``UnbackedOperationError``.
  @discardableResult
  nonisolated(nonsending) public func fetchNextPage(
    using context: OperationContext? = nil,
    handler: PaginatedEventHandler<State>? = nil
  ) async throws(State.Failure) -> Page<State.PageID, State.PageValue>? {
    try await self.callStore("fetchNextPage()") { store throws(State.Failure) in
      try await store.fetchNextPage(using: context, handler: handler)
    }
  }

  /// Loads the page before the first one and waits for it. Loads the initial page if there are no pages.
  ///
  /// - Parameters:
  ///   - context: Entries for this run, which take precedence over the store's context.
  ///   - handler: Receives the events of this run only.
  /// - Returns: The page; nil if no page comes before the first one.
  /// - Throws: The error of the operation, or an ``UnbackedOperationError``.
  @discardableResult
  nonisolated(nonsending) public func fetchPreviousPage(
    using context: OperationContext? = nil,
    handler: PaginatedEventHandler<State>? = nil
  ) async throws(State.Failure) -> Page<State.PageID, State.PageValue>? {
    try await self.callStore("fetchPreviousPage()") { store throws(State.Failure) in
      try await store.fetchPreviousPage(using: context, handler: handler)
    }
  }

  /// Fetches all pages again, one after the other from the first, and shows them when all are fetched.
  ///
  /// - Parameters:
  ///   - context: Entries for this run, which take precedence over the store's context.
  ///   - handler: Receives the events of this run only.
  /// - Returns: The pages as they were fetched.
  /// - Throws: The error of the operation, or an ``UnbackedOperationError``.
  @discardableResult
  nonisolated(nonsending) public func refetchAllPages(
    using context: OperationContext? = nil,
    handler: PaginatedEventHandler<State>? = nil
  ) async throws(State.Failure) -> Pages<State.PageID, State.PageValue> {
    try await self.callStore("refetchAllPages()") { store throws(State.Failure) in
      try await store.refetchAllPages(using: context, handler: handler)
    }
  }
}
