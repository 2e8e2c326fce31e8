public import OperationCore

/// The store that runs a paginated operation, as the run reads it.
@usableFromInline
struct PaginatedStore<Request: PaginatedRequest> {
  /// The state that pages are loaded for, without optimistic updates: the request must not see pages that only they
  /// show.
  @usableFromInline let state: Request.State

  /// Creates a view of the store of the run with `context`. Nil when no store runs the operation, or the store is gone.
  @inlinable
  init?(of context: OperationContext) {
    if let store = context.runningStore(of: Request.State.self) {
      self.state = store.stateWithoutLayers
    } else if let state = context.stateOfRunningStore(Request.State.self) {
      self.state = state
    } else {
      return nil
    }
    if !self.state.order.isBound { self.bind(in: context) }
  }

  @inlinable
  var pages: Pages<Request.PageID, Request.PageValue> { self.state.currentValue }

  // Not inlined: most stores bind their page order when they are created.
  @usableFromInline
  func bind(in context: OperationContext) {
    // The context of a run refers to the store without retaining it.
    var context = context
    context.runAttachment = nil
    self.state.order.bind { [context] in context.runningOperationStore?.context }
  }
}
