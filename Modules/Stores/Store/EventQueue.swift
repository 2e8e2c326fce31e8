/// An event that waits until earlier events have been delivered.
struct QueuedEvent: Sendable {
  let state: (any StoredState)?
  let result: RunOutcome?
  let lifecycle: StoreChange.Lifecycle?
  let context: OperationContext
  /// The run that caused the event; nil when the change was made outside a run.
  let run: OperationTaskIdentifier?
  /// Only subscribers with smaller numbers receive the event: those that were added before it.
  let limit: UInt64
  /// The only recipient; nil when all subscribers receive the event.
  let addressee: Subscriber?
}

/// The undelivered events of a store, oldest first.
typealias EventQueue = SerialQueue<EventQueueEntry>

enum EventQueueEntry: Sendable {
  case event(QueuedEvent)
  /// For the observers of the store.
  case observed(ObservedEvent)
  /// Removes a subscriber after the events queued before have been delivered to it.
  case dismissal(Subscriber)
  /// Removes the slot with a number, of a listener that follows another run from now on and then has another slot, too.
  case retirement(Subscriber, slot: UInt64)
  /// An action to perform between two events.
  case action(@Sendable () -> Void)
}

/// An entry removed from the event queue, with the subscribers at that time.
struct Delivery {
  /// The removed entry. A dismissal needs no action; it is kept here so that its subscriber is released after the lock.
  let entry: EventQueueEntry
  let slots: ContiguousArray<SubscriberTable.Slot>

  func perform() {
    let event: QueuedEvent
    switch self.entry {
    case .event(let queued): event = queued
    case .observed(let observed): return observed.deliver()
    case .action(let action): return action()
    case .dismissal, .retirement: return
    }
    let recipients = Recipients(slots: self.slots, limit: event.limit, addressee: event.addressee)
    recipients.receive(
      state: event.state,
      result: event.result,
      lifecycle: event.lifecycle,
      event.context,
      run: event.run
    )
  }
}
