/// What subscribers of a store hear of.
enum StoreEvent<State: OperationState & Sendable>: Sendable {
  case stateChanged(State)
  case runStarted
  case runEnded
  case resultReceived(Result<State.OperationValue, State.Failure>)
}

/// The events of a store on their way to its subscribers, in order.
struct Outbox<State: OperationState & Sendable>: Sendable {
  /// An event and those it is for.
  struct Item: Sendable {
    let event: StoreEvent<State>
    let context: OperationContext
    /// The run that made the event, if one did.
    let run: OperationTaskIdentifier?
    let audience: Audience
  }

  enum Audience: Sendable {
    /// All who had come by then: those with a smaller identifier.
    case everyone(before: UInt64)
    case only(Subscriber<State>)
  }

  enum Entry: Sendable {
    case item(Item)
    /// Lets a subscriber go once all that was made for it has been handed over.
    case dismissal(Subscriber<State>)
  }

  // What is taken out leaves its place empty, so that nothing is let go of later, under the lock.
  private var entries: [Entry?] = []
  private var head = 0
  var isDelivering = false

  var isEmpty: Bool { self.head == self.entries.count }

  mutating func append(_ entry: Entry) {
    self.entries.append(entry)
  }

  mutating func popFirst() -> Entry? {
    guard !self.isEmpty else { return nil }
    let entry = self.entries[self.head].take()
    self.head += 1
    if self.head == self.entries.count {
      self.entries.removeAll(keepingCapacity: self.entries.capacity <= 16)
      self.head = 0
    } else if self.head > 32, self.head > self.entries.count / 2 {
      self.entries.removeFirst(self.head)
      self.head = 0
    }
    return entry
  }
}

/// What was taken out of the outbox, with the subscribers of that moment.
struct Delivery<State: OperationState & Sendable> {
  /// What it was; a dismissal is only carried out of the lock, where its subscriber may go.
  let entry: Outbox<State>.Entry
  let slots: ContiguousArray<Subscriber<State>?>

  func perform() {
    guard case .item(let item) = self.entry else { return }
    switch item.audience {
    case .only(let subscriber):
      subscriber.receive(item.event, in: item.context)
    case .everyone(let limit):
      for case .some(let subscriber) in self.slots {
        if subscriber.id >= limit { break }
        if subscriber.hears(of: item.run) { subscriber.receive(item.event, in: item.context) }
      }
    }
  }
}
