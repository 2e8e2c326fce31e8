extension StoreMachine {
  /// Those who are to hear of a change, from the one who has made it; nil when nobody listens, or others deliver, in which
  /// case the change wait for them.
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
    guard mayDeliver, self.eventQueue.isEmpty, !self.eventQueue.isDelivering else {
      self.queue(change, result: result, context(), run: run, addressee: addressee)
      return nil
    }
    self.eventQueue.isDelivering = true
    return Recipients(slots: self.subscribers.slots, limit: self.subscribers.nextID, addressee: addressee)
  }

  /// Lets change wait in the event queue.
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

  /// The next delivery for one who is not delivering yet; nil when somebody is, or there is nothing.
  mutating func beginDelivery() -> Delivery<State>? {
    guard !self.eventQueue.isDelivering, !self.eventQueue.isEmpty else { return nil }
    self.eventQueue.isDelivering = true
    return self.nextDelivery()
  }

  /// Ends the delivering, unless there is more to hand over.
  @inlinable
  mutating func endDelivery() -> Bool {
    guard self.eventQueue.isEmpty else { return false }
    self.eventQueue.isDelivering = false
    return true
  }

  /// The next delivery for the one who is delivering; nil ends that.
  mutating func nextDelivery() -> Delivery<State>? {
    if let entry = self.eventQueue.popFirst() {
      if case .dismissal(let subscriber) = entry { _ = self.subscribers.remove(subscriber) }
      return Delivery(entry: entry, slots: self.subscribers.slots)
    }
    self.eventQueue.isDelivering = false
    return nil
  }
}
