extension StoreMachine {
  /// Appends a change to the event queue, unless it is empty or the store has no subscribers.
  mutating func queue(
    _ change: StoreChange,
    result: RunOutcome?,
    _ context: OperationContext,
    run: OperationTaskIdentifier?,
    addressee: Subscriber? = nil
  ) {
    if self.subscribers.isEmpty || change.isEmpty { return }
    let event = QueuedEvent(
      state: change.isStateNew ? self.shownState : nil,
      result: change.bringsResult ? result : nil,
      lifecycle: change.lifecycle,
      context: context,
      run: run,
      limit: self.subscribers.nextNumber,
      addressee: addressee
    )
    self.eventQueue.append(.event(event))
  }

  /// Begins delivering events and returns the first; nil when a delivery is in progress or no event is queued.
  mutating func beginDelivery() -> Delivery? {
    self.delivery(of: self.eventQueue.begin())
  }

  /// Returns the next event of the delivery in progress. Returns nil, and ends the delivery, when no event is queued.
  mutating func nextDelivery() -> Delivery? {
    self.delivery(of: self.eventQueue.next())
  }

  private mutating func delivery(of entry: EventQueueEntry?) -> Delivery? {
    guard let entry else { return nil }
    if case .dismissal(let subscriber) = entry { _ = self.subscribers.remove(subscriber) }
    return Delivery(entry: entry, slots: self.subscribers.slots)
  }
}
