/// News that have to wait until others have been handed over.
@usableFromInline
struct QueuedEvent<State: OperationState & Sendable>: Sendable {
  let state: State?
  let result: Result<State.OperationValue, State.Failure>?
  let lifecycle: StoreChange.Lifecycle?
  let context: OperationContext
  /// The run that made the change, if one did.
  let run: OperationTaskIdentifier?
  let limit: UInt64
  let addressee: Subscriber<State>?
}

/// The events of a store on their way to its subscribers, in order.
@usableFromInline
struct EventQueue<State: OperationState & Sendable>: Sendable {
  @usableFromInline
  enum Entry: Sendable {
    case event(QueuedEvent<State>)
    /// Lets a subscriber go once all that was made for it has been handed over.
    case dismissal(Subscriber<State>)
    /// Something that is to happen between the events.
    case action(@Sendable () -> Void)
  }

  // What is taken out leaves its place empty, so that nothing is let go of later, under the lock.
  @usableFromInline var entries: [Entry?] = []
  @usableFromInline var head: Int32 = 0
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

/// What was taken out of the event queue, with the subscribers of that moment.
struct Delivery<State: OperationState & Sendable> {
  /// What it was; a dismissal is only carried out of the lock, where its subscriber may go.
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
