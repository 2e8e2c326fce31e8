internal import OperationCore

/// The store that runs a paginated operation, as the run sees it.
struct PaginatedStore<Request: PaginatedRequest> {
  private let state: Request.State

  /// The store of the run with `context`; nil where no store runs the operation, and after the store is gone.
  init?(of context: OperationContext) {
    guard let store = context.runningOperationStore else { return nil }
    if let store = store.base as? OperationStore<Request.State> {
      self.state = store.state
    } else if let state = Self.state(in: store.state.base) {
      self.state = state
    } else {
      return nil
    }
    guard !self.state.order.isBound else { return }
    // The context of a run refers to the store without keeping it.
    var context = context
    context[PagingEntry<Request.PageID, Request.PageValue, Request.PageFailure>.Key.self] = nil
    self.state.order.bind { [context] in context.runningOperationStore?.context }
  }

  var pages: Pages<Request.PageID, Request.PageValue> { self.state.currentValue }

  private static func state(in state: any OperationState) -> Request.State? {
    if let state = state as? Request.State { return state }
    if let layered = state as? any LayeredOperationState { return self.state(in: layered.base) }
    return nil
  }
}
