public import OperationCore

extension PaginatedState {
  /// Applies a result of a run, and keeps the changes that others have made to the pages since the run began.
  @inlinable
  mutating func receive(_ value: PaginatedOperationValue<PageID, PageValue>, of task: FetchTask) {
    let context = task.context
    let run: Run? = context.pagingRun()
    let time = PageTime(context.date)
    var pages = self.currentValue
    switch value {
    case .initialPage where run?.isShared == true:
      self.error = nil
      return
    case .nextPage(let page?) where !self.hasRoom(for: page, of: run, in: context),
      .previousPage(let page?) where !self.hasRoom(for: page, of: run, in: context):
      self.error = nil
      return
    case .initialPage(let page):
      pages.merge(page, of: run, atEnd: run?.requestKind != .previous, time)
    case .nextPage(let page?):
      pages.merge(page, of: run, atEnd: true, time)
    case .previousPage(let page?):
      pages.merge(page, of: run, atEnd: false, time)
    case .nextPage(nil), .previousPage(nil):
      // No page to add, but the success clears the error.
      self.error = nil
      return
    case .allPages(let fetched):
      let keepsRest = run?.selection?.keepsRest == true
      if fetched.isEmpty, keepsRest || run?.hadPages == false {
        self.error = nil
        return
      }
      if keepsRest || context.operationResultUpdateReason == .yieldedResult {
        pages.refresh(with: fetched, of: run, time)
      } else {
        pages.merge(fetched, of: run, time)
      }
    }
    if let maximum = context.operationMaximumPages {
      let drops: (inout Pages<PageID, PageValue>) -> Void =
        switch value {
        case .nextPage: { $0.removeFirst() }
        case .initialPage where run?.requestKind != .previous: { $0.removeFirst() }
        case .previousPage, .initialPage, .allPages: { $0.removeLast() }
        }
      while pages.count > maximum { drops(&pages) }
    }
    self.set(pages, in: context)
    self.note(context.eventStamp, of: value, from: run?.revision)
  }
}

extension PaginatedState {
  /// Whether a page can be added without a gap.
  ///
  /// With a maximum number of pages, a page loaded at the other end may have removed the page that this one comes next
  /// to.
  @inlinable
  func hasRoom(for page: Page<PageID, PageValue>, of run: Run?, in context: OperationContext) -> Bool {
    guard let run, context.operationMaximumPages != nil else { return true }
    return run.hasTargetNeighbour(in: self.currentValue) || self.currentValue.contains(id: page.id)
  }
}

extension Pages {
  /// Merges one page of a run: it replaces the page with its identifier, or is added at an end.
  ///
  /// A page that was written after the run began is kept.
  @inlinable
  mutating func merge<Failure>(
    _ page: Page<PageID, PageValue>,
    of run: PagingRun<PageID, PageValue, Failure>?,
    atEnd: Bool,
    _ time: PageTime
  ) {
    let revision = run?.revision ?? .now()
    self.insert(Entry(page: page, revision: revision, time: time), atEnd: atEnd, unlessNewerThan: revision)
  }

  /// Replaces the pages that are here, and adds none.
  @usableFromInline
  mutating func refresh<Failure>(
    with fetched: Pages,
    of run: PagingRun<PageID, PageValue, Failure>?,
    _ time: PageTime
  ) {
    for page in fetched where self.contains(id: page.id) { self.merge(page, of: run, atEnd: true, time) }
  }

  /// Merges all pages that a run has refetched.
  ///
  /// Pages from before the run that were not fetched are removed. Pages that were written after the run began are kept
  /// as they are, and pages that were removed since are not added again. Pages that were added since stay at their end.
  @usableFromInline
  mutating func merge<Failure>(
    _ fetched: Pages,
    of run: PagingRun<PageID, PageValue, Failure>?,
    _ time: PageTime
  ) {
    guard let run else {
      self = fetched
      self.date(time)
      return
    }
    var (leading, trailing): ([Entry], [Entry]) = ([], [])
    var hasOldPages = false
    self.entries.visit { entry in
      if run.hadPage(entry.page.id) {
        hasOldPages = true
      } else if !fetched.contains(id: entry.page.id) {
        if hasOldPages { trailing.append(entry) } else { leading.append(entry) }
      }
    }
    // If none of the pages from before the run is left, they were removed or replaced, and the fetched ones are
    // dropped.
    guard hasOldPages else { return }
    var pages = Pages()
    for entry in leading { pages.insert(entry, atEnd: true) }
    for page in fetched {
      if let entry = self.entry(of: page.id) {
        let isNewer = entry.revision > run.revision
        pages.insert(isNewer ? entry : Entry(page: page, revision: run.revision, time: time), atEnd: true)
      } else if !run.hadPage(page.id) {
        pages.insert(Entry(page: page, revision: run.revision, time: time), atEnd: true)
      }
    }
    for entry in trailing { pages.insert(entry, atEnd: true) }
    self = pages
  }

  @discardableResult
  @inlinable
  mutating func removeFirst() -> Page<PageID, PageValue>? {
    self.first.flatMap { self.remove(id: $0.id) }
  }

  @discardableResult
  @inlinable
  mutating func removeLast() -> Page<PageID, PageValue>? {
    self.last.flatMap { self.remove(id: $0.id) }
  }
}
