public import OperationCore

/// The kind of request that a caller makes to a paginated operation.
@usableFromInline
enum PageRequestKind: Int, Hashable, Sendable, CaseIterable {
  /// All pages again, or the initial page if there are none. The kind of a run for which the caller has named none.
  case existing
  case next
  case previous
  case all
  /// Some of the pages again, or the initial page if there are none. The context has a ``PageSelection``.
  case selected

  /// The request that this kind resolves to, depending on whether there are pages.
  @inlinable
  func request(hasPages: Bool) -> PagingRequest {
    switch self {
    case .existing: hasPages ? .allPages : .initialPage
    case .next: hasPages ? .nextPage : .initialPage
    case .previous: hasPages ? .previousPage : .initialPage
    case .all: .allPages
    case .selected: hasPages ? .allPages : .initialPage
    }
  }
}

extension PageRequestKind {
  /// Returns a context for a run of this kind.
  @usableFromInline
  func context(over context: OperationContext?) -> OperationContext {
    guard var context else { return Self.contexts[self.rawValue] }
    context[Key.self] = self
    return context
  }

  // Made once: most callers pass no context of their own.
  private static let contexts = Self.allCases.map { $0.context(over: OperationContext()) }

  /// The key of a run's request kind. The state removes the entry from the context when the run starts.
  @usableFromInline
  enum Key: OperationContext.Key {
    @inlinable
    static var defaultValue: PageRequestKind? { nil }
  }
}

extension OperationContext {
  /// The attachment of the run with this context. Nil before that run has started.
  @inlinable
  func pagingRun<PageID, PageValue, Failure>() -> PagingRun<PageID, PageValue, Failure>? {
    self.runAttachment as? PagingRun<PageID, PageValue, Failure>
  }
}
