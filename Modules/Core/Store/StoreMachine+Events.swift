extension StoreMachine {
  /// Returns the subscribers to which the caller has to deliver a change, followed by `StoreRuntime.endDelivery()`.
  ///
  /// Returns nil when there are no subscribers or the change is empty. Also returns nil, and queues the change, when
  /// the caller may not deliver, events are being delivered, or earlier events are queued.
  @inlinable
  mutating func recipients(
    of change: StoreChange,
    result: Result<State.OperationValue, State.Failure>?,
    _ context: @autoclosure () -> OperationContext,
    run: OperationTaskIdentifier?,
    addressee: Subscriber<State>? = nil,
    mayDeliver: Bool
  ) -> Recipients<State>? {
    if self.subscribers.isEmpty || change.isEmpty { return nil }
    guard mayDeliver, self.eventQueue.beginDirectly() else {
      self.queue(change, result: result, context(), run: run, addressee: addressee)
      return nil
    }
    return Recipients(slots: self.subscribers.slots, limit: self.subscribers.nextID, addressee: addressee)
  }

  /// Appends a change to the event queue, unless it is empty or the store has no subscribers.
  @usableFromInline
  mutating func queue(
    _ change: StoreChange,
    result: Result<State.OperationValue, State.Failure>?,
    _ context: OperationContext,
    run: OperationTaskIdentifier?,
    addressee: Subscriber<State>? = nil
  ) {
    if self.subscribers.isEmpty || change.isEmpty { return }
    let event = QueuedEvent(
      state: change.isStateNew ? self.shownState : nil,
      result: change.bringsResult ? result : nil,
      lifecycle: change.lifecycle,
      context: context,
      run: run,
      limit: self.subscribers.nextID,
      addressee: addressee
    )
    self.eventQueue.append(.event(event))
  }

  /// Begins delivering events and returns the first; nil when a delivery is in progress or no event is queued.
  mutating func beginDelivery() -> Delivery<State>? {
    self.delivery(of: self.eventQueue.begin())
  }

  /// Returns the next event of the delivery in progress. Returns nil, and ends the delivery, when no event is queued.
  mutating func nextDelivery() -> Delivery<State>? {
    self.delivery(of: self.eventQueue.next())
  }

  private mutating func delivery(of entry: EventQueueEntry<State>?) -> Delivery<State>? {
    guard let entry else { return nil }
    if case .dismissal(let subscriber) = entry { _ = self.subscribers.remove(subscriber) }
    return Delivery(entry: entry, slots: self.subscribers.slots)
  }
}
