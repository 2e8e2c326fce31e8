/// The subscribers that receive an event.
struct Recipients: Sendable {
  let slots: ContiguousArray<SubscriberTable.Slot>
  /// Only subscribers with smaller numbers receive the event: those that were added before it.
  let limit: UInt64
  /// The only recipient; nil when all subscribers receive the event.
  let addressee: Subscriber?

  /// Calls `body` with each recipient of an event of `run`, in the order in which they subscribed.
  private func forEach(run: OperationTaskIdentifier?, _ body: (Subscriber) -> Void) {
    if let addressee = self.addressee { return body(addressee) }
    for slot in self.slots {
      if slot.number >= self.limit { break }
      if let subscriber = slot.subscriber, slot.receivesEvents(of: run) { body(subscriber) }
    }
  }

  /// Delivers the state, the result and the lifecycle event that are given, each to all recipients before the next.
  func receive(
    state: (any StoredState)?,
    result: RunOutcome?,
    lifecycle: StoreChange.Lifecycle?,
    _ context: OperationContext,
    run: OperationTaskIdentifier?
  ) {
    if let state { self.forEach(run: run) { $0.receive(state, context) } }
    if let result { self.forEach(run: run) { $0.receive(result, context) } }
    if let lifecycle { self.forEach(run: run) { $0.receive(lifecycle, context) } }
  }
}
