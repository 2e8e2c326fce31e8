public import OperationCore

/// What somebody asks a paginated operation for.
@usableFromInline
enum PageRequestKind: Int, Hashable, Sendable, CaseIterable {
  /// All pages anew, or the initial one when there is none: what a run does that nobody has asked for pages.
  case whatIsThere
  case next
  case previous
  case all

  /// What the request kind comes to with pages or without.
  @inlinable
  func request(hasPages: Bool) -> PagingRequest {
    switch self {
    case .whatIsThere: hasPages ? .allPages : .initialPage
    case .next: hasPages ? .nextPage : .initialPage
    case .previous: hasPages ? .previousPage : .initialPage
    case .all: .allPages
    }
  }
}

extension PageRequestKind {
  /// The context of a run that is asked for this.
  @usableFromInline
  func context(over context: OperationContext?) -> OperationContext {
    guard var context else { return Self.contexts[self.rawValue] }
    context[Key.self] = self
    return context
  }

  // Most runs are asked for with no other entry.
  private static let contexts = Self.allCases.map { $0.context(over: OperationContext()) }

  /// The key of what a run is asked for. The state takes it out of the context when the run starts.
  @usableFromInline
  enum Key: OperationContext.Key {
    @inlinable
    static var defaultValue: PageRequestKind? { nil }
  }
}

extension OperationContext {
  /// What belongs to the run that the context is of, once that has started.
  @inlinable
  func pagingRun<PageID, PageValue, Failure>() -> PagingRun<PageID, PageValue, Failure>? {
    self.runAttachment as? PagingRun<PageID, PageValue, Failure>
  }
}
