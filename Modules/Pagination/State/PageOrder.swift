internal import OperationCore
internal import Synchronization

/// What a state knows of its request: which page comes after which.
///
/// The identifiers are computed when they are read, from the pages of that moment. So they are right whatever has happened to
/// the pages, and no foreign code is called while the store changes its state.
class PageOrder<PageID: Hashable & Sendable, PageValue: Sendable>: @unchecked Sendable {
  // Unchecked because a class that is subclassed cannot be checked; it holds a mutex, and the one subclass a request.
  private let source = Mutex(ContextSource())

  /// Where the context of the store is to be had. A mutex around a bare closure would wrap it once more at each access.
  private struct ContextSource {
    var context: (@Sendable () -> OperationContext?)?
  }

  func nextPageId(of pages: Pages<PageID, PageValue>) -> PageID? {
    preconditionFailure("Overridden by RequestedPageOrder.")
  }

  func previousPageId(of pages: Pages<PageID, PageValue>) -> PageID? {
    preconditionFailure("Overridden by RequestedPageOrder.")
  }

  /// The context of the store whose state this belongs to.
  final var context: OperationContext {
    self.source.withLock { $0.context }?() ?? OperationContext()
  }

  final var isBound: Bool { self.source.withLock { $0.context != nil } }

  /// Says where the context of the store is to be had.
  final func bind(to context: @escaping @Sendable () -> OperationContext?) {
    self.source.withLock { $0.context = context }
  }
}

/// The order of the pages of a request.
final class RequestedPageOrder<Request: PaginatedRequest>: PageOrder<Request.PageID, Request.PageValue>,
  @unchecked Sendable  // Unchecked as its base class is; all it adds is an immutable Sendable value.
{
  private let request: Request

  init(_ request: Request) {
    self.request = request
  }

  override func nextPageId(of pages: Pages<Request.PageID, Request.PageValue>) -> Request.PageID? {
    self.request.nextPageId(of: pages, in: self.context)
  }

  override func previousPageId(of pages: Pages<Request.PageID, Request.PageValue>) -> Request.PageID? {
    self.request.previousPageId(of: pages, in: self.context)
  }
}
