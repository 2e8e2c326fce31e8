public import OperationCore

extension StatefulOperationRequest where State: PaginatedStateProtocol {
  /// Makes the state stale while it has no pages.
  public func staleWhenNoValue() -> ContextModifiedOperation<Self> {
    self.staleWhen { state, _ in state.paginatedState.currentValue.isEmpty }
  }

  /// Passes all events in the stores of the operation to a handler.
  ///
  /// - Parameter handler: Called in event order, never with a lock held.
  /// - Returns: The operation, whose stores call the handler.
  public func handleEvents(with handler: PaginatedEventHandler<State>) -> ContextModifiedOperation<Self> {
    self.handleEvents(with: OperationEventHandler(handler))
  }
}
