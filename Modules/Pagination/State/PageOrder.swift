public import OperationCore
public import Synchronization

/// What a state knows of its request: which page comes after which.
///
/// The identifiers are computed when they are read, from the pages of that moment. So they are right whatever has happened to
/// the pages, and no foreign code is called while the store changes its state.
///
/// It is made of closures, not of overridden methods, so that what is made where the request's type is known calls the
/// request directly.
@usableFromInline
final class PageOrder<PageID: Hashable & Sendable, PageValue: Sendable>: Sendable {
  @usableFromInline
  typealias Neighbor = @Sendable (Pages<PageID, PageValue>, OperationContext) -> PageID?

  @usableFromInline let next: Neighbor
  @usableFromInline let previous: Neighbor
  @usableFromInline let source = Mutex(PageContextSource())

  @inlinable
  init<Request: PaginatedRequest>(_ request: Request) where Request.PageID == PageID, Request.PageValue == PageValue {
    self.next = { pages, context in request.nextPageId(of: pages, in: context) }
    self.previous = { pages, context in request.previousPageId(of: pages, in: context) }
  }

  @inlinable
  func nextPageId(of pages: Pages<PageID, PageValue>) -> PageID? { self.next(pages, self.context) }

  @inlinable
  func previousPageId(of pages: Pages<PageID, PageValue>) -> PageID? { self.previous(pages, self.context) }

  /// The context of the store whose state this belongs to.
  @inlinable
  var context: OperationContext {
    // Not the closure alone: as a generic result it would be wrapped.
    self.source.withLock { $0 }.context?() ?? OperationContext()
  }

  @inlinable
  var isBound: Bool { self.source.withLock { $0.context != nil } }

  /// Says where the context of the store is to be had.
  @inlinable
  func bind(to context: @escaping @Sendable () -> OperationContext?) {
    var replaced: (@Sendable () -> OperationContext?)? = context
    self.source.withLock { swap(&$0.context, &replaced) }
    withExtendedLifetime(replaced) {}  // Until here, after the lock.
  }
}

/// Where the context of a store is to be had. A mutex around a bare closure would wrap it once more at each access.
@usableFromInline
struct PageContextSource: Sendable {
  @usableFromInline var context: (@Sendable () -> OperationContext?)?

  @inlinable
  init() {}
}
