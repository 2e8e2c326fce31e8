/// Closures that hear of what happens in an ``OperationStore``.
///
/// They are called one at a time, in event order, on the thread whose change made the event (or on one that is
/// delivering already), and never while a lock is held: a handler may do anything to the store.
///
/// The events of a run come in one order, whoever delivers them: its start, what it yields, its outcome, its end. Of one
/// change handlers hear the state, then the result, then the end of the run, each of them before the next.
public struct OperationEventHandler<State: OperationState & Sendable>: Sendable {
  /// Called with the state now and after each change of it.
  public var onStateChanged: (@Sendable (State, OperationContext) -> Void)?

  /// Called when a run begins its work.
  public var onRunStarted: (@Sendable (OperationContext) -> Void)?

  /// Called when a run has ended, however it ended.
  public var onRunEnded: (@Sendable (OperationContext) -> Void)?

  /// Called with each result that a run yields or returns.
  /// ``OperationContext/operationResultUpdateReason`` tells which. A cancelled run has no result.
  public var onResultReceived: (@Sendable (Result<State.OperationValue, State.Failure>, OperationContext) -> Void)?

  /// Creates a handler.
  @inlinable
  public init(
    onStateChanged: (@Sendable (State, OperationContext) -> Void)? = nil,
    onRunStarted: (@Sendable (OperationContext) -> Void)? = nil,
    onRunEnded: (@Sendable (OperationContext) -> Void)? = nil,
    onResultReceived: (@Sendable (Result<State.OperationValue, State.Failure>, OperationContext) -> Void)? = nil
  ) {
    self.onStateChanged = onStateChanged
    self.onRunStarted = onRunStarted
    self.onRunEnded = onRunEnded
    self.onResultReceived = onResultReceived
  }
}
