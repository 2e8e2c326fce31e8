public import OperationCore

/// Which of the present pages a run fetches again, if not all of them.
@usableFromInline
final class PageSelection: Sendable {
  private enum Content: Sendable {
    case firstPage
    /// A `PagePredicate`.
    case included(any Sendable)
  }

  private let content: Content
  /// Whether the other pages stay.
  @usableFromInline let keepsRest: Bool

  private init(_ content: Content, keepsRest: Bool) {
    self.content = content
    self.keepsRest = keepsRest
  }

  static let firstPage = PageSelection(.firstPage, keepsRest: true)
  static let firstPageAlone = PageSelection(.firstPage, keepsRest: false)

  /// The pages for which a predicate is true.
  convenience init<PageID, PageValue>(where isIncluded: @escaping @Sendable (Page<PageID, PageValue>) -> Bool) {
    self.init(.included(PagePredicate(isIncluded: isIncluded)), keepsRest: true)
  }

  /// The identifiers of the chosen pages, in order. Calls code of users.
  func ids<PageID, PageValue>(in pages: Pages<PageID, PageValue>) -> [PageID] {
    switch self.content {
    case .firstPage: pages.first.map { [$0.id] } ?? []
    case .included(let predicate):
      (predicate as? PagePredicate<PageID, PageValue>).map { pages.filter($0.isIncluded).map(\.id) } ?? []
    }
  }

  /// Returns a context for a run that fetches these pages.
  func context(over context: OperationContext?) -> OperationContext {
    var context = PageRequestKind.selected.context(over: context)
    context[Key.self] = self
    return context
  }

  /// The key of a run's selection. The state removes the entry from the context when the run starts.
  @usableFromInline
  enum Key: OperationContext.Key {
    @usableFromInline static var defaultValue: PageSelection? { nil }
  }
}

private struct PagePredicate<PageID: Hashable & Sendable, PageValue: Sendable>: Sendable {
  let isIncluded: @Sendable (Page<PageID, PageValue>) -> Bool
}

extension PageSelection: Hashable {
  // The first page has one object for each case. Two predicates are never known to be the same.
  @usableFromInline
  static func == (lhs: PageSelection, rhs: PageSelection) -> Bool { lhs === rhs }

  @usableFromInline
  func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(self))
  }
}
