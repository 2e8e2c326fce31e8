public import OperationCore

extension OperationStore where State: PaginatedStateProtocol {
  /// Loads the page after the last one and waits for it; the initial page where there is none.
  ///
  /// Where the operation shares runs, as with `.deduplicated()`, the call joins one that loads the same page.
  ///
  /// - Parameters:
  ///   - context: Entries that replace those of the store's context for this run.
  ///   - handler: Hears of the events of this run alone.
  /// - Returns: The page, or nil where the pages end.
  /// - Throws: What the operation throws. When the run is cancelled, what it ends with, or `CancellationError`.
  @discardableResult
  @inlinable
  public func fetchNextPage(
    using context: OperationContext? = nil,
    handler: PaginatedEventHandler<State>? = nil
  ) async throws(State.Failure) -> Page<State.PageID, State.PageValue>? {
    guard self.mayLoad({ $0.hasNextPage }) else { return nil }
    return try await self.run(.next, using: context, handler: handler).page
  }

  /// Loads the page before the first one and waits for it; the initial page where there is none.
  ///
  /// See ``OperationCore/OperationStore/fetchNextPage(using:handler:)``.
  ///
  /// - Parameters:
  ///   - context: Entries that replace those of the store's context for this run.
  ///   - handler: Hears of the events of this run alone.
  /// - Returns: The page, or nil where the pages begin.
  /// - Throws: What the operation throws. When the run is cancelled, what it ends with, or `CancellationError`.
  @discardableResult
  @inlinable
  public func fetchPreviousPage(
    using context: OperationContext? = nil,
    handler: PaginatedEventHandler<State>? = nil
  ) async throws(State.Failure) -> Page<State.PageID, State.PageValue>? {
    guard self.mayLoad({ $0.hasPreviousPage }) else { return nil }
    return try await self.run(.previous, using: context, handler: handler).page
  }

  /// Fetches all pages that are there anew, one after the other from the first, and shows them when all have come.
  ///
  /// It ends early where the fresh pages do. What is written to the pages meanwhile stays. Where there are no pages nothing is
  /// fetched.
  ///
  /// - Parameters:
  ///   - context: Entries that replace those of the store's context for this run.
  ///   - handler: Hears of the events of this run alone.
  /// - Returns: The pages as they were fetched.
  /// - Throws: What the operation throws. When the run is cancelled, what it ends with, or `CancellationError`.
  @discardableResult
  @inlinable
  public func refetchAllPages(
    using context: OperationContext? = nil,
    handler: PaginatedEventHandler<State>? = nil
  ) async throws(State.Failure) -> Pages<State.PageID, State.PageValue> {
    guard self.mayLoad({ !$0.currentValue.isEmpty }) else { return [] }
    return try await self.run(.all, using: context, handler: handler).pages
  }

  /// Whether a run is to be shown: where there is nothing to load, nobody is shown a load.
  ///
  /// A function, as a state that is still held when the run starts would have to be copied for that.
  @inlinable
  func mayLoad(
    _ isSomethingThere: (PaginatedState<State.PageID, State.PageValue, State.Failure>) -> Bool
  ) -> Bool {
    let state = self.stateWithoutLayers.paginatedState
    return state.isLoading || isSomethingThere(state)
  }

  @inlinable
  nonisolated(nonsending) func run(
    _ requestKind: PageRequestKind,
    using context: OperationContext?,
    handler: PaginatedEventHandler<State>?
  ) async throws(State.Failure) -> State.OperationValue {
    let context = requestKind.context(over: context)
    guard let handler, handler.hearsOfPages else {
      return try await self.run(using: context, handler: handler.map { OperationEventHandler($0) })
    }
    return try await self.run(using: context, pageHandler: handler)
  }

  // Not inlined: few callers hear of single pages.
  @usableFromInline
  func run(
    using context: OperationContext,
    pageHandler handler: PaginatedEventHandler<State>
  ) async throws(State.Failure) -> State.OperationValue {
    let reader = PageEventReader(handler, hearsOfAllRuns: false)
    // Behind the events of the run, of which others may still be telling.
    defer { self.performInEventOrder { reader.cancel() } }
    return try await self.run(using: context, handler: OperationEventHandler(reader))
  }
}

// MARK: - Tasks

extension OperationStore where State: PaginatedStateProtocol {
  /// A task that loads the page after the last one once it is run; the initial page where there is none then.
  @inlinable
  public func fetchNextPageTask(
    using context: OperationContext? = nil
  ) -> OperationTask<Page<State.PageID, State.PageValue>?, State.Failure> {
    self.runTask(using: PageRequestKind.next.context(over: context)).map { $0.page }
  }

  /// A task that loads the page before the first one once it is run; the initial page where there is none then.
  @inlinable
  public func fetchPreviousPageTask(
    using context: OperationContext? = nil
  ) -> OperationTask<Page<State.PageID, State.PageValue>?, State.Failure> {
    self.runTask(using: PageRequestKind.previous.context(over: context)).map { $0.page }
  }

  /// A task that fetches all pages anew once it is run.
  @inlinable
  public func refetchAllPagesTask(
    using context: OperationContext? = nil
  ) -> OperationTask<Pages<State.PageID, State.PageValue>, State.Failure> {
    self.runTask(using: PageRequestKind.all.context(over: context)).map { $0.pages }
  }
}
