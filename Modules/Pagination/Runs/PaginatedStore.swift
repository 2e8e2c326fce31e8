public import OperationCore

/// The store that runs a paginated operation, as the run sees it.
@usableFromInline
struct PaginatedStore<Request: PaginatedRequest> {
  /// The state that pages are loaded for. What is laid over it is nothing that the request knows.
  @usableFromInline let state: Request.State

  /// The store of the run with `context`; nil where no store runs the operation, and after the store is gone.
  @inlinable
  init?(of context: OperationContext) {
    if let store = context.runningStore(of: Request.State.self) {
      self.state = store.stateWithoutLayers
    } else if let state = Self.stateBeneath(context) {
      self.state = state
    } else {
      return nil
    }
    if !self.state.order.isBound { self.bind(in: context) }
  }

  @inlinable
  var pages: Pages<Request.PageID, Request.PageValue> { self.state.currentValue }

  // Not inlined: most stores know the context of their pages from the beginning.
  @usableFromInline
  func bind(in context: OperationContext) {
    // The context of a run refers to the store without keeping it.
    var context = context
    context.runAttachment = nil
    self.state.order.bind { [context] in context.runningOperationStore?.context }
  }

  // Not inlined: few stores have a state around that of the pages.
  @usableFromInline
  static func stateBeneath(_ context: OperationContext) -> Request.State? {
    context.runningOperationStore.flatMap { self.state(in: $0.stateWithoutLayers) }
  }

  private static func state(in state: any OperationState) -> Request.State? {
    if let state = state as? Request.State { return state }
    if let layered = state as? any LayeredOperationState { return self.state(in: layered.base) }
    return nil
  }
}
