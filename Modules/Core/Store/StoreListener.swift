/// Receives the events of a store without their types. It is no subscriber: it starts no runs and keeps none alive.
final class StoreListener: Subscriber, @unchecked Sendable {
  // Unchecked like its base class. It adds only these immutable Sendable closures.
  private let onStateChanged: (@Sendable (any StoredState) -> Void)?
  private let onOutcome: (@Sendable (RunOutcome, OperationContext) -> Void)?

  /// Creates a listener.
  ///
  /// - Parameters:
  ///   - onStateChanged: Called with each state in event order.
  ///   - onOutcome: Called with each result that a run yields or returns, in event order.
  ///   - onStoreGone: Called when the store is released before the listener has left.
  init(
    onStateChanged: (@Sendable (any StoredState) -> Void)? = nil,
    onOutcome: (@Sendable (RunOutcome, OperationContext) -> Void)? = nil,
    onStoreGone: (@Sendable () -> Void)?
  ) {
    self.onStateChanged = onStateChanged
    self.onOutcome = onOutcome
    super.init(onStoreGone: onStoreGone)
  }

  override func receive(_ state: any StoredState, _ context: OperationContext) {
    if let onStateChanged, !self.hasLeft { onStateChanged(state) }
  }

  override func receive(_ outcome: RunOutcome, _ context: OperationContext) {
    if let onOutcome, !self.hasLeft { onOutcome(outcome, context) }
  }

  override func receive(_ lifecycle: StoreChange.Lifecycle, _ context: OperationContext) {}

  /// Whether the listener receives states, the current one first.
  fileprivate var receivesStates: Bool { self.onStateChanged != nil }
}

extension StoreRuntime {
  /// Adds a listener, which receives the events from now on, and the current state first if it receives states.
  func add(_ listener: StoreListener) {
    var isClosed = self.noteDependent()
    let mayDeliver = !self.lock.isOwnedByCurrentThread
    var (state, context) = ((any StoredState)?.none, OperationContext())
    let recipients = self.withMachine { machine -> Recipients? in
      if machine.isClosed { isClosed = true }
      machine.subscribers.add(listener, role: .listener)
      guard listener.receivesStates else { return nil }
      context = machine.context
      let recipients = machine.recipients(
        of: StoreChange(isStateNew: true),
        result: nil,
        context,
        run: nil,
        addressee: listener,
        mayDeliver: mayDeliver
      )
      if recipients != nil { state = machine.shownState }
      return recipients
    }
    if let recipients {
      recipients.receive(state: state, result: nil, lifecycle: nil, context, run: nil)
      self.endDelivery()
    }
    if isClosed { _ = self.subscriptionToClosedStore(listener) }
  }

  /// Calls `observer` for each state from now on, but not for the current one, while the store exists.
  func observeState(_ observer: @escaping @Sendable () -> Void) {
    let listener = StoreListener(onStateChanged: { _ in observer() }, onStoreGone: nil)
    self.withMachine { $0.subscribers.add(listener, role: .listener) }
  }

  /// Removes a listener, which receives no event from now on.
  func remove(_ listener: StoreListener) {
    listener.cancel()
    _ = self.withMachine { $0.subscribers.remove(listener) }
  }
}
