public import OperationCore
public import Synchronization

/// The order of a request's pages, as a state needs it: which page comes after or before another.
///
/// The identifiers are computed when they are read, from the pages at that time. So they are right however the pages
/// were changed, and a store calls no code of the user's while it changes its state.
///
/// Made of closures, not of overridden methods: created where the request's type is known, they call the request
/// directly.
@usableFromInline
final class PageOrder<PageID: Hashable & Sendable, PageValue: Sendable>: Sendable {
  @usableFromInline
  typealias Neighbour = @Sendable (Pages<PageID, PageValue>, OperationContext) -> PageID?

  @usableFromInline let next: Neighbour
  @usableFromInline let previous: Neighbour
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
    // Returns the whole source: a closure as the result of a generic function would be wrapped in another closure.
    self.source.withLock { $0 }.context?() ?? OperationContext()
  }

  @inlinable
  var isBound: Bool { self.source.withLock { $0.context != nil } }

  /// Sets the closure that returns the context of the store.
  @inlinable
  func bind(to context: @escaping @Sendable () -> OperationContext?) {
    var replaced: (@Sendable () -> OperationContext?)? = context
    self.source.withLock { swap(&$0.context, &replaced) }
    withExtendedLifetime(replaced) {}  // Released after unlocking.
  }
}

/// The closure that returns the context of a store.
///
/// In a struct: a mutex around a bare closure would wrap it in another closure at each access.
@usableFromInline
struct PageContextSource: Sendable {
  @usableFromInline var context: (@Sendable () -> OperationContext?)?

  @inlinable
  init() {}
}
