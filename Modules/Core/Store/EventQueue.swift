/// An event that waits until earlier events have been delivered.
@usableFromInline
struct QueuedEvent<State: OperationState & Sendable>: Sendable {
  let state: State?
  let result: Result<State.OperationValue, State.Failure>?
  let lifecycle: StoreChange.Lifecycle?
  let context: OperationContext
  /// The run that caused the event; nil when the change was made outside a run.
  let run: OperationTaskIdentifier?
  /// Only subscribers with smaller identifiers receive the event: those that were added before it.
  let limit: UInt64
  /// The only recipient; nil when all subscribers receive the event.
  let addressee: Subscriber<State>?
}

/// The undelivered events of a store, oldest first. Appending and removing take constant amortized time.
@usableFromInline
struct EventQueue<State: OperationState & Sendable>: Sendable {
  @usableFromInline
  enum Entry: Sendable {
    case event(QueuedEvent<State>)
    /// Removes a subscriber after the events queued before have been delivered to it.
    case dismissal(Subscriber<State>)
    /// An action to perform between two events.
    case action(@Sendable () -> Void)
  }

  // A removed entry is replaced with nil, so that compacting the array destroys no entry under the lock.
  @usableFromInline var entries: [Entry?] = []
  /// The index of the first entry that has not been removed.
  @usableFromInline var head: Int32 = 0
  /// Whether a thread is delivering events. Only that thread removes entries.
  @usableFromInline var isDelivering = false

  @inlinable
  init() {}

  @inlinable
  var isEmpty: Bool { Int(self.head) == self.entries.count }

  @inlinable
  mutating func append(_ entry: Entry) {
    self.entries.append(entry)
  }

  @inlinable
  mutating func popFirst() -> Entry? {
    guard !self.isEmpty else { return nil }
    let entry = self.entries[Int(self.head)].take()
    self.head += 1
    if self.isEmpty {
      self.entries.removeAll(keepingCapacity: self.entries.capacity <= 16)
      self.head = 0
    } else if self.head > 32, Int(self.head) > self.entries.count / 2 {
      self.entries.removeFirst(Int(self.head))
      self.head = 0
    }
    return entry
  }
}

/// An entry removed from the event queue, with the subscribers at that time.
struct Delivery<State: OperationState & Sendable> {
  /// The removed entry. A dismissal needs no action; it is kept here so that its subscriber is released after the lock.
  let entry: EventQueue<State>.Entry
  let slots: ContiguousArray<Subscriber<State>?>

  func perform() {
    if case .action(let action) = self.entry { return action() }
    guard case .event(let event) = self.entry else { return }
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
