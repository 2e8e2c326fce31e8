internal import OperationCore

/// One attempt to do what a run of a paginated operation is to do.
struct PageLoad<Request: PaginatedRequest> {
  typealias PageID = Request.PageID
  typealias PageValue = Request.PageValue
  typealias Value = PaginatedOperationValue<PageID, PageValue>
  typealias EntryKey = PagingEntry<PageID, PageValue, Request.PageFailure>.Key

  private let request: Request
  private let demand: PageDemand
  private let run: PagingRun<PageID, PageValue, Request.PageFailure>?
  /// The context of the run.
  private let context: OperationContext
  /// The context of the run without what is only about this run: what the request gets, and may hand on.
  private let pageContext: OperationContext
  private let continuation: OperationContinuation<Value, Request.PageFailure>

  init(
    request: Request,
    context: OperationContext,
    continuation: OperationContinuation<Value, Request.PageFailure>
  ) {
    let entry = context[EntryKey.self]
    self.request = request
    self.demand = entry?.demand ?? .whatIsThere
    self.run = entry?.run
    self.context = context
    self.continuation = continuation
    var pageContext = context
    if entry != nil { pageContext[EntryKey.self] = nil }
    self.pageContext = pageContext
  }

  func perform(isolation: isolated (any Actor)?) async throws(Request.PageFailure) -> Value {
    // Who waits for the initial page has it when it has come: it is not loaded twice.
    if let run = self.run, let page = await run.awaitForerunners(), run.request == .initialPage {
      run.isShared = true
      return .initialPage(page)
    }
    try self.checkCancellation()
    let pages = PaginatedStore<Request>(of: self.context)?.pages ?? self.run?.pagesAtDeparture ?? []
    self.run?.begin(with: pages)
    // A refetch that has begun goes on, also where somebody has removed the pages.
    let isRefetching = self.run?.refetch != nil
    switch isRefetching ? .allPages : self.demand.request(hasPages: !pages.isEmpty) {
    case .initialPage:
      self.run?.aim = .initialPage
      let paging = Paging(pageId: self.request.initialPageId, pages: pages, request: .initialPage)
      return .initialPage(try await self.fetch(paging, isolation: isolation) { .initialPage($0) })
    case .nextPage:
      let id = self.request.nextPageId(of: pages, in: self.pageContext)
      self.run?.aim = .nextPage(id)
      guard let id else { return .nextPage(nil) }
      let paging = Paging(pageId: id, pages: pages, request: .nextPage)
      return .nextPage(try await self.fetch(paging, isolation: isolation) { .nextPage($0) })
    case .previousPage:
      let id = self.request.previousPageId(of: pages, in: self.pageContext)
      self.run?.aim = .previousPage(id)
      guard let id else { return .previousPage(nil) }
      let paging = Paging(pageId: id, pages: pages, request: .previousPage)
      return .previousPage(try await self.fetch(paging, isolation: isolation) { .previousPage($0) })
    case .allPages:
      self.run?.aim = .allPages
      return .allPages(try await self.refetch(pages, isolation: isolation))
    }
  }

  private func checkCancellation() throws(Request.PageFailure) {
    guard Task.isCancelled, let error = CancellationError() as? Request.PageFailure else { return }
    throw error
  }
}

// MARK: - All pages

extension PageLoad {
  /// Fetches one page after the other, from the first that is there, as far as there are pages and as many as there are.
  private func refetch(
    _ pages: Pages<PageID, PageValue>,
    isolation: isolated (any Actor)?
  ) async throws(Request.PageFailure) -> Pages<PageID, PageValue> {
    let limit = min(pages.count, self.context.operationMaximumPages ?? .max)
    var refetch = self.run?.refetch ?? .init(nextId: pages.first?.id, limit: limit)
    while let id = refetch.nextId {
      try self.checkCancellation()
      // A run that was cancelled and cannot say so ends here; its value does not show.
      if Task.isCancelled { break }
      let paging = Paging(pageId: id, pages: refetch.pages, request: .allPages)
      refetch.pages.append(try await self.fetch(paging, isolation: isolation) { .allPages([$0]) })
      let isLast = refetch.pages.count >= refetch.limit
      refetch.nextId = isLast ? nil : self.request.nextPageId(of: refetch.pages, for: .allPages, in: self.pageContext)
      self.run?.refetch = refetch
    }
    return refetch.pages
  }
}

// MARK: - One page

extension PageLoad {
  private func fetch(
    _ paging: Paging<PageID, PageValue>,
    isolation: isolated (any Actor)?,
    as value: @escaping @Sendable (Page<PageID, PageValue>) -> Value
  ) async throws(Request.PageFailure) -> Page<PageID, PageValue> {
    let id = paging.pageId
    let fetching = PageFetching()
    let continuation = OperationContinuation<PageValue, Request.PageFailure> { result, context in
      guard fetching.isUnderWay else { return fetching.reportLateYield(of: id) }
      let result = result.map { Page(id: id, value: $0) }
      self.continuation.yield(with: result.map(value), using: context)
      self.run?.log.post(.result(id, result), .yieldedResult)
    }
    self.run?.log.post(.started(id))
    defer { self.run?.log.post(.ended(id)) }
    do {
      let value = try await self.request.fetchPage(
        isolation: isolation,
        using: paging,
        in: self.pageContext,
        with: continuation
      )
      fetching.end()
      let page = Page(id: id, value: value)
      if !Task.isCancelled { self.run?.log.post(.result(id, .success(page)), .returnedFinalResult) }
      return page
    } catch {
      fetching.end()
      if !Task.isCancelled, !(error is CancellationError) {
        self.run?.log.post(.result(id, .failure(error)), .returnedFinalResult)
      }
      throw error
    }
  }
}
