public import OperationCore

// Calls for queries on pages. Without these declarations the compiler finds fault with `store(for:)`, or with the kind of the
// request.

extension OperationStore where State: PaginatedStateProtocol {
  /// Not for pages: call ``fetchNextPage(using:handler:)``.
  @available(*, unavailable, message: "pages are loaded one by one: call fetchNextPage(), or refetchAllPages()")
  @discardableResult
  public func fetch(using context: OperationContext? = nil) async throws(State.Failure) -> State.StateValue {
    preconditionFailure("Unavailable.")
  }
}

extension OperationClient {
  /// Not for pages: call `fetchNextPage()` of their store.
  @available(*, unavailable, message: "pages are loaded by their store: call store(for:).fetchNextPage()")
  @discardableResult
  public func fetch<Pages: PaginatedRequest>(_ pages: Pages) async throws(Pages.PageFailure) -> Pages.PageValue {
    preconditionFailure("Unavailable.")
  }
}
