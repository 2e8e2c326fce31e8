/// What a change of a store has to tell its subscribers, beside the result that it was given.
@usableFromInline
struct StoreNews: Sendable {
  /// A turn of a run.
  @usableFromInline
  enum Turn: Sendable {
    case started
    case ended
  }

  @usableFromInline var isStateNew = false
  /// Whether the result that the change was given counts.
  @usableFromInline var bringsResult = false
  @usableFromInline var turn: Turn?

  @inlinable
  init(isStateNew: Bool = false, bringsResult: Bool = false, turn: Turn? = nil) {
    self.isStateNew = isStateNew
    self.bringsResult = bringsResult
    self.turn = turn
  }

  @inlinable
  var isEmpty: Bool { !self.isStateNew && !self.bringsResult && self.turn == nil }
}

/// Those who hear of an event.
@usableFromInline
struct Audience<State: OperationState & Sendable>: Sendable {
  @usableFromInline let slots: ContiguousArray<Subscriber<State>?>
  /// All who had come by then: those with smaller identifiers.
  @usableFromInline let limit: UInt64
  /// The only one who is to hear it, if it is not for all.
  @usableFromInline let addressee: Subscriber<State>?

  @inlinable
  init(slots: ContiguousArray<Subscriber<State>?>, limit: UInt64, addressee: Subscriber<State>?) {
    self.slots = slots
    self.limit = limit
    self.addressee = addressee
  }

  @inlinable
  func forEach(run: OperationTaskIdentifier?, _ body: (Subscriber<State>) -> Void) {
    if let addressee = self.addressee { return body(addressee) }
    for case .some(let subscriber) in self.slots {
      if subscriber.id >= self.limit { break }
      if subscriber.hears(of: run) { body(subscriber) }
    }
  }

  /// Hands over what there is of the three, each to all before the next.
  @inlinable
  func hear(
    state: State?,
    result: Result<State.OperationValue, State.Failure>?,
    turn: StoreNews.Turn?,
    _ context: OperationContext,
    run: OperationTaskIdentifier?
  ) {
    if let state { self.forEach(run: run) { $0.hear(state, context) } }
    if let result { self.forEach(run: run) { $0.hear(result, context) } }
    if let turn { self.forEach(run: run) { $0.hear(turn, context) } }
  }
}

/// News that have to wait until others have been handed over.
@usableFromInline
struct Announcement<State: OperationState & Sendable>: Sendable {
  let state: State?
  let result: Result<State.OperationValue, State.Failure>?
  let turn: StoreNews.Turn?
  let context: OperationContext
  /// The run that made the change, if one did.
  let run: OperationTaskIdentifier?
  let limit: UInt64
  let addressee: Subscriber<State>?
}

/// The announcements of a store on their way to its subscribers, in order.
@usableFromInline
struct Outbox<State: OperationState & Sendable>: Sendable {
  @usableFromInline
  enum Entry: Sendable {
    case announcement(Announcement<State>)
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

/// What was taken out of the outbox, with the subscribers of that moment.
struct Delivery<State: OperationState & Sendable> {
  /// What it was; a dismissal is only carried out of the lock, where its subscriber may go.
  let entry: Outbox<State>.Entry
  let slots: ContiguousArray<Subscriber<State>?>

  func perform() {
    if case .action(let action) = self.entry { return action() }
    guard case .announcement(let announcement) = self.entry else { return }
    let audience = Audience(slots: self.slots, limit: announcement.limit, addressee: announcement.addressee)
    audience.hear(
      state: announcement.state,
      result: announcement.result,
      turn: announcement.turn,
      announcement.context,
      run: announcement.run
    )
  }
}
