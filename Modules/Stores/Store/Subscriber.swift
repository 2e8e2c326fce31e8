internal import Synchronization

/// A handler that receives events of a store.
///
/// The store passes states and results on without their types. ``TypedSubscriber`` knows them; ``StoreListener`` does
/// not need them.
@usableFromInline
class Subscriber: @unchecked Sendable {
  // Unchecked: the compiler cannot check a class with subclasses. All fields, also of the subclasses, are immutable.

  /// Called when the store is released before the subscriber has left.
  let onStoreGone: (@Sendable () -> Void)?
  private let isCancelled = Atomic(false)
  /// Whether the subscriber was told that the store was removed.
  let knowsRemoval = Atomic(false)
  /// Whether the last event of a subscriber of a removed store is queued.
  let isEnding = Atomic(false)
  private let callIsAnswered = Atomic(false)
  /// The index in the slots of its table. Only the table reads and writes it.
  let position = Atomic<Int>(-1)

  init(onStoreGone: (@Sendable () -> Void)?) {
    self.onStoreGone = onStoreGone
  }

  /// Stops the delivery of events to this subscriber.
  func cancel() {
    self.isCancelled.store(true, ordering: .releasing)
  }

  /// Whether the call of this handler was answered, so that it follows no further run. Used under the lock of the store.
  var hasAnswer: Bool {
    get { self.callIsAnswered.load(ordering: .relaxed) }
    set { self.callIsAnswered.store(newValue, ordering: .relaxed) }
  }

  var hasLeft: Bool { self.isCancelled.load(ordering: .acquiring) }

  func receive(_ state: any StoredState, _ context: OperationContext) {
    preconditionFailure("Overridden by each subclass.")
  }

  func receive(_ outcome: RunOutcome, _ context: OperationContext) {
    preconditionFailure("Overridden by each subclass.")
  }

  func receive(_ lifecycle: StoreChange.Lifecycle, _ context: OperationContext) {
    preconditionFailure("Overridden by each subclass.")
  }
}

/// A handler of the events of stores whose state is of one type.
@usableFromInline
final class TypedSubscriber<State: OperationState & Sendable>: Subscriber, @unchecked Sendable {
  // Unchecked like its base class. It adds only this immutable Sendable value.
  private let handler: OperationEventHandler<State>

  @usableFromInline
  init(_ handler: OperationEventHandler<State>, onStoreGone: (@Sendable () -> Void)? = nil) {
    self.handler = handler
    super.init(onStoreGone: onStoreGone)
  }

  override func receive(_ state: any StoredState, _ context: OperationContext) {
    guard let onStateChanged = self.handler.onStateChanged, !self.hasLeft else { return }
    onStateChanged(state.value(as: State.self), context)
  }

  override func receive(_ outcome: RunOutcome, _ context: OperationContext) {
    guard let onResultReceived = self.handler.onResultReceived, !self.hasLeft else { return }
    onResultReceived(outcome.result(), context)
  }

  override func receive(_ lifecycle: StoreChange.Lifecycle, _ context: OperationContext) {
    guard !self.hasLeft else { return }
    switch lifecycle {
    case .started: self.handler.onRunStarted?(context)
    case .ended: self.handler.onRunEnded?(context)
    case .attemptFailed: self.receiveFailedAttempt(context)
    case .storeRemoved:
      // Once, also if the store is released later.
      if !self.knowsRemoval.exchange(true, ordering: .relaxed) { self.handler.onStoreRemoved?(context) }
    }
  }

  private func receiveFailedAttempt(_ context: OperationContext) {
    guard let onAttemptFailed = self.handler.onAttemptFailed else { return }
    if let attempt = context.run.attempts?.reported { onAttemptFailed(attempt, context) }
  }
}
