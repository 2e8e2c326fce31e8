/// Closures that receive the events of an ``OperationStore``.
///
/// They are called one at a time, in the order of the events, and never with a lock held, so that a handler may use the
/// store in any way. They run on the thread whose change caused the event, or on a thread that is already delivering
/// events.
///
/// The events of a run always have the same order: its start, the results it yields, its outcome, its end. For one
/// change, all handlers receive the state, then all receive the result, then all receive the end of the run.
public struct OperationEventHandler<State: OperationState & Sendable>: Sendable {
  /// Called with the current state on subscription, and after each change of the state.
  public var onStateChanged: (@Sendable (State, OperationContext) -> Void)?

  /// Called when a run begins its work.
  public var onRunStarted: (@Sendable (OperationContext) -> Void)?

  /// Called when a run has ended, with any outcome.
  public var onRunEnded: (@Sendable (OperationContext) -> Void)?

  /// Called with each result that a run yields or returns.
  ///
  /// ``OperationContext/operationResultUpdateReason`` distinguishes the two. A cancelled run has no result.
  public var onResultReceived: (@Sendable (Result<State.OperationValue, State.Failure>, OperationContext) -> Void)?

  /// Called when an attempt of a run has failed and another one follows, such as a retry.
  ///
  /// The attempt contains the error and when the next one begins. The failure of the last attempt is the result.
  public var onAttemptFailed: (@Sendable (OperationAttempt, OperationContext) -> Void)?

  /// Called once when the client no longer has the store, or when the store no longer exists.
  ///
  /// The store was removed with a call such as ``OperationClient/clearStores(matching:)``, or its last reference was
  /// released. A run that only subscribers waited for has been cancelled, so that the last state is not loading. It is
  /// the last event of a subscription.
  public var onStoreRemoved: (@Sendable (OperationContext) -> Void)?

  /// Creates a handler.
  @inlinable
  public init(
    onStateChanged: (@Sendable (State, OperationContext) -> Void)? = nil,
    onRunStarted: (@Sendable (OperationContext) -> Void)? = nil,
    onRunEnded: (@Sendable (OperationContext) -> Void)? = nil,
    onResultReceived: (@Sendable (Result<State.OperationValue, State.Failure>, OperationContext) -> Void)? = nil,
    onAttemptFailed: (@Sendable (OperationAttempt, OperationContext) -> Void)? = nil,
    onStoreRemoved: (@Sendable (OperationContext) -> Void)? = nil
  ) {
    self.onStateChanged = onStateChanged
    self.onRunStarted = onRunStarted
    self.onRunEnded = onRunEnded
    self.onResultReceived = onResultReceived
    self.onAttemptFailed = onAttemptFailed
    self.onStoreRemoved = onStoreRemoved
  }
}
