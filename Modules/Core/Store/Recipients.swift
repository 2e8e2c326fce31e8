/// Those who hear of an event.
@usableFromInline
struct Recipients<State: OperationState & Sendable>: Sendable {
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
      if subscriber.receivesEvents(of: run) { body(subscriber) }
    }
  }

  /// Hands over what there is of the three, each to all before the next.
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
