public import OperationCore

extension OperationStore where State: PaginatedStateProtocol {
  /// Loads the page after the last one and waits for it. Loads the initial page if there are no pages.
  ///
  /// If the operation shares runs, as with `.deduplicated()`, the call joins a run that loads the same page.
  ///
  /// - Parameters:
  ///   - context: Entries for this run, which take precedence over the store's context.
  ///   - handler: Receives the events of this run only.
  /// - Returns: The page, or nil if no page comes after the last one.
  /// - Throws: The error of the operation. If the run is cancelled, the error that it ends with, or
  ///   `CancellationError`.
  @discardableResult
  @inlinable
  public func fetchNextPage(
    using context: OperationContext? = nil,
    handler: PaginatedEventHandler<State>? = nil
  ) async throws(State.Failure) -> Page<State.PageID, State.PageValue>? {
    guard self.mayLoad({ $0.hasNextPage }) else { return nil }
    return try await self.run(.next, using: context, handler: handler).page
  }

  /// Loads the page before the first one and waits for it. Loads the initial page if there are no pages.
  ///
  /// See ``OperationCore/OperationStore/fetchNextPage(using:handler:)``.
  ///
  /// - Parameters:
  ///   - context: Entries for this run, which take precedence over the store's context.
  ///   - handler: Receives the events of this run only.
  /// - Returns: The page, or nil if no page comes before the first one.
  /// - Throws: The error of the operation. If the run is cancelled, the error that it ends with, or
  ///   `CancellationError`.
  @discardableResult
  @inlinable
  public func fetchPreviousPage(
    using context: OperationContext? = nil,
    handler: PaginatedEventHandler<State>? = nil
  ) async throws(State.Failure) -> Page<State.PageID, State.PageValue>? {
    guard self.mayLoad({ $0.hasPreviousPage }) else { return nil }
    return try await self.run(.previous, using: context, handler: handler).page
  }

  /// Fetches all pages again, one after the other from the first, and shows them when all are fetched.
  ///
  /// The refetch ends early when the request returns no next page. Changes that others make to the pages meanwhile are
  /// kept. If there are no pages, nothing is fetched.
  ///
  /// - Parameters:
  ///   - context: Entries for this run, which take precedence over the store's context.
  ///   - handler: Receives the events of this run only.
  /// - Returns: The pages as they were fetched.
  /// - Throws: The error of the operation. If the run is cancelled, the error that it ends with, or
  ///   `CancellationError`.
  @discardableResult
  @inlinable
  public func refetchAllPages(
    using context: OperationContext? = nil,
    handler: PaginatedEventHandler<State>? = nil
  ) async throws(State.Failure) -> Pages<State.PageID, State.PageValue> {
    guard self.mayLoad({ !$0.currentValue.isEmpty }) else { return [] }
    return try await self.run(.all, using: context, handler: handler).pages
  }

  /// Fetches the first page again and waits for it, as pulling a list down does. Loads the initial page if there are no
  /// pages.
  ///
  /// ```swift
  /// try await feed.refetchFirstPage()                // One request, and the other pages stay as they are.
  /// try await feed.refetchFirstPage(keeping: .none)  // One request, and the list begins anew.
  /// ```
  ///
  /// An element that has moved from another page to the first is then in both, if the other pages stay: see
  /// ``Pages/elements(uniqueBy:)``. The list stays as old as its oldest page.
  ///
  /// - Parameters:
  ///   - kept: What becomes of the other pages when the first has been fetched. If that fails, they stay.
  ///   - context: Entries for this run, which take precedence over the store's context.
  ///   - handler: Receives the events of this run only.
  /// - Returns: The page.
  /// - Throws: The error of the operation. If the run is cancelled, the error that it ends with, or
  ///   `CancellationError`.
  @discardableResult
  public func refetchFirstPage(
    keeping kept: KeptPages = .rest,
    using context: OperationContext? = nil,
    handler: PaginatedEventHandler<State>? = nil
  ) async throws(State.Failure) -> Page<State.PageID, State.PageValue>? {
    let context = kept.selection.context(over: context)
    return try await self.run(in: context, handler: handler).pages.first
  }

  /// Fetches the pages again for which a predicate is true, one after the other, and shows them when all are fetched.
  ///
  /// ```swift
  /// try await feed.refetchPages { visiblePages.contains($0.id) }
  /// ```
  ///
  /// The other pages stay as they are. If the predicate is true for no page, nothing is fetched.
  ///
  /// - Parameters:
  ///   - context: Entries for this run, which take precedence over the store's context.
  ///   - handler: Receives the events of this run only.
  ///   - isIncluded: Called with no lock held, before the run and when it begins.
  /// - Returns: The pages as they were fetched.
  /// - Throws: The error of the operation. If the run is cancelled, the error that it ends with, or
  ///   `CancellationError`.
  @discardableResult
  public func refetchPages(
    using context: OperationContext? = nil,
    handler: PaginatedEventHandler<State>? = nil,
    where isIncluded: @escaping @Sendable (Page<State.PageID, State.PageValue>) -> Bool
  ) async throws(State.Failure) -> Pages<State.PageID, State.PageValue> {
    guard self.mayLoad({ $0.currentValue.contains(where: isIncluded) }) else { return [] }
    return try await self.run(in: PageSelection(where: isIncluded).context(over: context), handler: handler).pages
  }

  /// Whether to start a run: while the store loads, or when `hasWork` returns true.
  ///
  /// Without this check, subscribers would see a run that loads nothing. It is a function so that the state is released
  /// before the run starts: a state that is still retained then would be copied.
  @inlinable
  func mayLoad(
    _ hasWork: (PaginatedState<State.PageID, State.PageValue, State.Failure>) -> Bool
  ) -> Bool {
    let state = self.stateWithoutLayers.paginatedState
    return state.isLoading || hasWork(state)
  }

  @inlinable
  nonisolated(nonsending) func run(
    _ requestKind: PageRequestKind,
    using context: OperationContext?,
    handler: PaginatedEventHandler<State>?
  ) async throws(State.Failure) -> State.OperationValue {
    try await self.run(in: requestKind.context(over: context), handler: handler)
  }

  @inlinable
  nonisolated(nonsending) func run(
    in context: OperationContext,
    handler: PaginatedEventHandler<State>?
  ) async throws(State.Failure) -> State.OperationValue {
    guard let handler, handler.observesPages else {
      return try await self.run(using: context, handler: handler.map { OperationEventHandler($0) })
    }
    return try await self.run(using: context, pageHandler: handler)
  }

  // Not inlined: few handlers observe pages.
  @usableFromInline
  func run(
    using context: OperationContext,
    pageHandler handler: PaginatedEventHandler<State>
  ) async throws(State.Failure) -> State.OperationValue {
    let reader = PageEventReader(handler, observesAllRuns: false)
    // Cancelled after the events of the run, which another thread may still be delivering.
    defer { self.performInEventOrder { reader.cancel() } }
    return try await self.run(using: context, handler: OperationEventHandler(reader))
  }
}

/// What becomes of the other pages when the first one has been fetched again.
@nonexhaustive(warn)
public enum KeptPages: Hashable, Sendable {
  /// They stay as they are.
  case rest
  /// They are removed, and can be loaded again.
  case none

  var selection: PageSelection { self == .rest ? .firstPage : .firstPageAlone }
}

// MARK: - Tasks

extension OperationStore where State: PaginatedStateProtocol {
  /// Returns a task that loads the page after the last one when it runs, or the initial page if there are none then.
  ///
  /// - Parameter context: Entries for this run, which take precedence over the store's context.
  /// - Returns: The task, which has not started. Its value is the page; nil if no page comes after the last one.
  public func fetchNextPageTask(
    using context: OperationContext? = nil
  ) -> OperationTask<Page<State.PageID, State.PageValue>?, State.Failure> {
    self.runTask(using: PageRequestKind.next.context(over: context)).map { $0.page }
  }

  /// Returns a task that loads the page before the first one when it runs, or the initial page if there are none then.
  ///
  /// - Parameter context: Entries for this run, which take precedence over the store's context.
  /// - Returns: The task, which has not started. Its value is the page; nil if no page comes before the first one.
  public func fetchPreviousPageTask(
    using context: OperationContext? = nil
  ) -> OperationTask<Page<State.PageID, State.PageValue>?, State.Failure> {
    self.runTask(using: PageRequestKind.previous.context(over: context)).map { $0.page }
  }

  /// Returns a task that fetches all pages again when it runs.
  ///
  /// - Parameter context: Entries for this run, which take precedence over the store's context.
  /// - Returns: The task, which has not started. Its value is the pages as they were fetched.
  public func refetchAllPagesTask(
    using context: OperationContext? = nil
  ) -> OperationTask<Pages<State.PageID, State.PageValue>, State.Failure> {
    self.runTask(using: PageRequestKind.all.context(over: context)).map { $0.pages }
  }

  /// Returns a task that fetches the first page again when it runs, or the initial page if there are none then.
  ///
  /// - Parameters:
  ///   - kept: What becomes of the other pages when the first has been fetched.
  ///   - context: Entries for this run, which take precedence over the store's context.
  /// - Returns: The task, which has not started. Its value is the page.
  public func refetchFirstPageTask(
    keeping kept: KeptPages = .rest,
    using context: OperationContext? = nil
  ) -> OperationTask<Page<State.PageID, State.PageValue>?, State.Failure> {
    self.runTask(using: kept.selection.context(over: context)).map { $0.pages.first }
  }
}
