/// The subscribers that receive an event.
@usableFromInline
struct Recipients<State: OperationState & Sendable>: Sendable {
  @usableFromInline let slots: ContiguousArray<Subscriber<State>?>
  /// Only subscribers with smaller identifiers receive the event: those that were added before it.
  @usableFromInline let limit: UInt64
  /// The only recipient; nil when all subscribers receive the event.
  @usableFromInline let addressee: Subscriber<State>?

  @inlinable
  init(slots: ContiguousArray<Subscriber<State>?>, limit: UInt64, addressee: Subscriber<State>?) {
    self.slots = slots
    self.limit = limit
    self.addressee = addressee
  }

  /// Calls `body` with each recipient of an event of `run`, in the order in which they subscribed.
  @inlinable
  func forEach(run: OperationTaskIdentifier?, _ body: (Subscriber<State>) -> Void) {
    if let addressee = self.addressee { return body(addressee) }
    for case .some(let subscriber) in self.slots {
      if subscriber.id >= self.limit { break }
      if subscriber.receivesEvents(of: run) { body(subscriber) }
    }
  }

  /// Delivers the state, the result and the lifecycle event that are given, each to all recipients before the next.
  @inlinable
  func receive(
    state: State?,
    result: Result<State.OperationValue, State.Failure>?,
    lifecycle: StoreChange.Lifecycle?,
    _ context: OperationContext,
    run: OperationTaskIdentifier?
  ) {
    if let state { self.forEach(run: run) { $0.receive(state, context) } }
    if let result { self.forEach(run: run) { $0.receive(result, context) } }
    if let lifecycle { self.forEach(run: run) { $0.receive(lifecycle, context) } }
  }
}
