public import OperationCore

/// One attempt at the work of a paginated operation's run, on the actor of its caller.
@usableFromInline
struct PageLoad<Request: PaginatedRequest>: Sendable {
  @usableFromInline typealias PageID = Request.PageID
  @usableFromInline typealias PageValue = Request.PageValue
  @usableFromInline typealias Value = PaginatedOperationValue<PageID, PageValue>

  @usableFromInline let request: Request
  @usableFromInline let requestKind: PageRequestKind
  @usableFromInline let run: PagingRun<PageID, PageValue, Request.PageFailure>?
  /// The context of the run.
  @usableFromInline let context: OperationContext
  /// The context of the run without the entries that belong to this run alone. The request receives it and may pass it
  /// on.
  @usableFromInline let pageContext: OperationContext
  @usableFromInline let continuation: OperationContinuation<Value, Request.PageFailure>

  @inlinable
  init(
    request: Request,
    context: OperationContext,
    continuation: OperationContinuation<Value, Request.PageFailure>
  ) {
    let run: PagingRun<PageID, PageValue, Request.PageFailure>? = context.pagingRun()
    self.request = request
    self.run = run
    self.requestKind = run?.requestKind ?? context[PageRequestKind.Key.self] ?? .existing
    self.context = context
    var pageContext = context.hidingRunAttachment()
    if run == nil {
      if self.requestKind == .selected { pageContext.unset(PageSelection.Key.self) }
      pageContext.unset(PageRequestKind.Key.self)
    }
    self.pageContext = pageContext
    self.continuation = continuation
  }

  @inlinable
  nonisolated(nonsending) func perform() async throws(Request.PageFailure) -> Value {
    // The initial page is not loaded twice: a run that has waited for it returns the loaded page.
    if let run = self.run, run.waits, let page = try await run.awaitPredecessors(in: self.context),
      run.request == .initialPage
    {
      run.isShared = true
      return .initialPage(page)
    }
    try self.checkCancellation()
    let pages = PaginatedStore<Request>(of: self.context)?.pages ?? self.run?.pagesBeforeStart ?? []
    // A refetch that has begun goes on even if the pages were removed since.
    let isRefetching = self.run?.begin(with: pages) == true
    switch isRefetching ? .allPages : self.requestKind.request(hasPages: !pages.isEmpty) {
    case .initialPage:
      self.run?.setTarget(.initialPage)
      let paging = Paging(pageId: self.request.initialPageId, pages: pages, request: .initialPage)
      return .initialPage(try await self.fetch(paging) { .initialPage($0) })
    case .nextPage:
      let id = self.request.nextPageId(of: pages, in: self.pageContext)
      self.run?.setTarget(.nextPage, id, nextTo: pages.last?.id)
      guard let id else { return .nextPage(nil) }
      let paging = Paging(pageId: id, pages: pages, request: .nextPage)
      return .nextPage(try await self.fetch(paging) { .nextPage($0) })
    case .previousPage:
      let id = self.request.previousPageId(of: pages, in: self.pageContext)
      self.run?.setTarget(.previousPage, id, nextTo: pages.first?.id)
      guard let id else { return .previousPage(nil) }
      let paging = Paging(pageId: id, pages: pages, request: .previousPage)
      return .previousPage(try await self.fetch(paging) { .previousPage($0) })
    case .allPages:
      self.run?.setTarget(.allPages)
      return .allPages(try await self.refetch(pages))
    }
  }

  @inlinable
  func checkCancellation() throws(Request.PageFailure) {
    guard Task.isCancelled, let error = CancellationError() as? Request.PageFailure else { return }
    throw error
  }
}

// MARK: - All pages

extension PageLoad {
  /// Fetches pages from the first of `pages` on: at most as many, and fewer if no further page follows. Of pages that
  /// the caller has chosen, it fetches those.
  ///
  /// In a store, each call fetches one page and returns it, except for the last call, which returns all pages: so the
  /// modifiers of the operation are run for each page.
  @usableFromInline
  nonisolated(nonsending) func refetch(
    _ pages: Pages<PageID, PageValue>
  ) async throws(Request.PageFailure) -> Pages<PageID, PageValue> {
    let isInParts = self.run != nil && !self.context.operationRefetchesPagesInOneRun
    var known = self.run?.refetch
    let maximum = self.context.operationMaximumPages ?? .max
    var refetch = known ?? PageRefetch(of: pages, self.run?.selection, maximum: maximum)
    while let id = refetch.nextId {
      try self.checkCancellation()
      // Reached when `PageFailure` cannot represent a cancellation. The value of a cancelled run is dropped.
      if Task.isCancelled { break }
      let paging = Paging(pageId: id, pages: refetch.pages, request: .allPages)
      let page = try await self.fetch(paging) { .allPages([$0]) }
      var pages = refetch.pages
      pages.append(page)
      let isLast = pages.count >= refetch.limit
      let chosenIds = refetch.chosenIds
      let nextId: PageID? =
        if isLast {
          nil
        } else if let chosenIds {
          chosenIds.first
        } else {
          self.request.nextPageId(of: pages, for: .allPages, in: self.pageContext)
        }
      refetch = PageRefetch(pages: pages, nextId: nextId, chosenIds: chosenIds?.dropFirst(), limit: refetch.limit)
      self.run?.advance(from: known, to: refetch, leavesPages: isInParts && nextId != nil)
      known = refetch
      if isInParts, nextId != nil { return [page] }
    }
    return refetch.pages
  }
}

// MARK: - One page

extension PageLoad {
  @inlinable
  nonisolated(nonsending) func fetch(
    _ paging: Paging<PageID, PageValue>,
    as value: @escaping @Sendable (Page<PageID, PageValue>) -> Value
  ) async throws(Request.PageFailure) -> Page<PageID, PageValue> {
    let id = paging.pageId
    let fetching = PageFetching()
    // Captures two properties, not `self`: each captured reference is retained and released with the closure.
    let continuation = OperationContinuation<PageValue, Request.PageFailure> {
      [runContinuation = self.continuation, run = self.run] result, context in
      guard fetching.isUnderWay else { return fetching.reportLateYield(of: id) }
      let result = result.map { Page(id: id, value: $0) }
      guard let run else { return runContinuation.yield(with: result.map(value), using: context) }
      run.log.notify(.init(.yielded, of: id, result)) {
        runContinuation.yield(with: result.map(value), using: context)
      }
    }
    self.run?.log.notify(.init(.started, of: id))
    defer { self.run?.log.notifyWithNextChange(.init(.ended, of: id)) }
    do {
      let value = try await self.request.fetchPage(
        isolation: #isolation,
        using: paging,
        in: self.pageContext,
        with: continuation
      )
      fetching.end()
      let page = Page(id: id, value: value)
      if !Task.isCancelled { self.run?.log.notifyWithNextChange(.init(.returned, of: id, value: value)) }
      return page
    } catch {
      fetching.end()
      if !error.endsCancelledRun {
        self.run?.log.notifyWithNextChange(.init(.returned, of: id, error: error))
      }
      throw error
    }
  }
}
