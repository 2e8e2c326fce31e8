public import OperationCore

extension OperationStore where State: PaginatedStateProtocol {
  /// Subscribes a handler to all events of the store.
  ///
  /// The handler receives the state at once. If the pages are stale and automatic running is enabled, a run refetches
  /// all pages, or loads the initial page if there are none. If a run is under way, the subscription joins it.
  ///
  /// - Parameters:
  ///   - handler: Called in event order, never with a lock held.
  ///   - isolation: The caller's actor. A run that is started leaves it.
  /// - Returns: A subscription whose cancellation or release ends the calls of the handler.
  public func subscribe(
    with handler: PaginatedEventHandler<State>,
    isolation: (any Actor)? = #isolation
  ) -> OperationSubscription {
    guard handler.observesPages else {
      return self.subscribe(with: OperationEventHandler(handler), isolation: isolation)
    }
    let reader = PageEventReader(handler)
    let subscription = self.subscribe(with: OperationEventHandler(reader), isolation: isolation)
    return OperationSubscription {
      reader.cancel()
      subscription.cancel()
    }
  }
}
