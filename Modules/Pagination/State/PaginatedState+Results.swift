public import OperationCore

extension PaginatedState {
  /// Takes in what a run has yielded or returned, next to what others have written since the run began.
  @inlinable
  mutating func finish(_ value: PaginatedOperationValue<PageID, PageValue>, of task: FetchTask) {
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
      pages.finish(page, of: run, atEnd: run?.requestKind != .previous, time)
    case .nextPage(let page?):
      pages.finish(page, of: run, atEnd: true, time)
    case .previousPage(let page?):
      pages.finish(page, of: run, atEnd: false, time)
    case .nextPage(nil), .previousPage(nil):
      // There is nothing to show but that it went well.
      self.error = nil
      return
    case .allPages(let fetched):
      if run?.hadPages == false, fetched.isEmpty {
        self.error = nil
        return
      }
      if context.operationResultUpdateReason == .yieldedResult {
        pages.refresh(with: fetched, of: run, time)
      } else {
        pages.finish(fetched, of: run, time)
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
  }
}

extension PaginatedState {
  /// Whether a page leaves no gap. Where there is a maximum, what has come at the other end since may have pushed out the
  /// page next to it.
  @inlinable
  func hasRoom(for page: Page<PageID, PageValue>, of run: Run?, in context: OperationContext) -> Bool {
    guard let run, context.operationMaximumPages != nil else { return true }
    return run.bringsNeighbor(of: self.currentValue) || self.currentValue.contains(id: page.id)
  }
}

extension Pages {
  /// Takes in one page: in the place that it has, unless somebody has written to it since the run began, or at an end.
  @inlinable
  mutating func finish<Failure>(
    _ page: Page<PageID, PageValue>,
    of run: PagingRun<PageID, PageValue, Failure>?,
    atEnd: Bool,
    _ time: PageTime
  ) {
    let revision = run?.revision ?? .now()
    self.insert(Entry(page: page, revision: revision, time: time), atEnd: atEnd, unlessNewerThan: revision)
  }

  /// Takes in pages where they are.
  @usableFromInline
  mutating func refresh<Failure>(
    with fetched: Pages,
    of run: PagingRun<PageID, PageValue, Failure>?,
    _ time: PageTime
  ) {
    for page in fetched where self.contains(id: page.id) { self.finish(page, of: run, atEnd: true, time) }
  }

  /// Takes in all pages anew.
  ///
  /// What was there before the run and was not fetched goes. What somebody has written since the run began stays as it is,
  /// and what somebody has removed stays away; pages that have come since stay at their end.
  @usableFromInline
  mutating func finish<Failure>(
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
    // When none is left of the pages that were refetched, others have taken their place.
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
