public import OperationCore

extension OperationStore where State: PaginatedStateProtocol {
  /// Hears of everything that happens in the store until the subscription is cancelled or dropped.
  ///
  /// The handler gets the state at once. If the pages are stale and automatic running is enabled, all pages are refetched, or
  /// the initial one is loaded when there is none; a run that is there is joined.
  ///
  /// - Parameters:
  ///   - handler: Called in event order, never while a lock is held.
  ///   - isolation: The caller's actor, which a run that is started leaves.
  public func subscribe(
    with handler: PaginatedEventHandler<State>,
    isolation: (any Actor)? = #isolation
  ) -> OperationSubscription {
    guard handler.hearsOfPages else {
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
