internal import Synchronization

extension Subscriber {
  @inlinable
  func receive(_ state: State, _ context: OperationContext) {
    guard let onStateChanged = self.handler.onStateChanged, !self.hasLeft else { return }
    onStateChanged(state, context)
  }

  @inlinable
  func receive(_ result: Result<State.OperationValue, State.Failure>, _ context: OperationContext) {
    guard let onResultReceived = self.handler.onResultReceived, !self.hasLeft else { return }
    onResultReceived(result, context)
  }

  @inlinable
  func receive(_ lifecycle: StoreChange.Lifecycle, _ context: OperationContext) {
    guard !self.hasLeft else { return }
    switch lifecycle {
    case .started: self.handler.onRunStarted?(context)
    case .ended: self.handler.onRunEnded?(context)
    case .attemptFailed: self.receiveFailedAttempt(context)
    case .storeRemoved: self.receiveRemoval(context)
    }
  }

  /// Passes on that the store was removed: once, also if it is released later.
  // Not inlined: few stores are removed while they have subscribers.
  @usableFromInline
  func receiveRemoval(_ context: OperationContext) {
    if !self.knowsRemoval.exchange(true, ordering: .relaxed) { self.handler.onStoreRemoved?(context) }
  }

  // Not inlined: failed attempts are rare.
  @usableFromInline
  func receiveFailedAttempt(_ context: OperationContext) {
    guard let onAttemptFailed = self.handler.onAttemptFailed else { return }
    if let attempt = context.run.attempts?.reported { onAttemptFailed(attempt, context) }
  }
}
