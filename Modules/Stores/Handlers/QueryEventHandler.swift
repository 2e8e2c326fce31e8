/// Closures that receive the events of a query's store: an ``OperationEventHandler`` in the terms of queries.
public struct QueryEventHandler<State: QueryStateProtocol & Sendable>: Sendable {
  /// Called with the current state on subscription, and after each change of the state.
  public var onStateChanged: (@Sendable (State, OperationContext) -> Void)?

  /// Called when a fetch begins its work.
  public var onFetchingStarted: (@Sendable (OperationContext) -> Void)?

  /// Called when a fetch has ended, with any outcome.
  public var onFetchingEnded: (@Sendable (OperationContext) -> Void)?

  /// Called with each result that a fetch yields or returns.
  ///
  /// ``OperationContext/operationResultUpdateReason`` distinguishes the two. A cancelled fetch has no result.
  public var onResultReceived: (@Sendable (Result<State.OperationValue, State.Failure>, OperationContext) -> Void)?

  /// Called when an attempt of a fetch has failed and another one follows, such as a retry.
  ///
  /// The attempt contains the error and when the next one begins. The failure of the last attempt is the result.
  public var onAttemptFailed: (@Sendable (OperationAttempt, OperationContext) -> Void)?

  /// Called once when the client no longer has the store, or when the store no longer exists.
  ///
  /// The store was removed with a call such as ``OperationClient/clearStores(matching:)``, or its last reference was
  /// released. A run that only subscribers waited for has been cancelled, so that the last state is not loading.
  public var onStoreRemoved: (@Sendable (OperationContext) -> Void)?

  /// Creates a handler.
  @inlinable
  public init(
    onStateChanged: (@Sendable (State, OperationContext) -> Void)? = nil,
    onFetchingStarted: (@Sendable (OperationContext) -> Void)? = nil,
    onFetchingEnded: (@Sendable (OperationContext) -> Void)? = nil,
    onResultReceived: (@Sendable (Result<State.OperationValue, State.Failure>, OperationContext) -> Void)? = nil,
    onAttemptFailed: (@Sendable (OperationAttempt, OperationContext) -> Void)? = nil,
    onStoreRemoved: (@Sendable (OperationContext) -> Void)? = nil
  ) {
    self.onStateChanged = onStateChanged
    self.onFetchingStarted = onFetchingStarted
    self.onFetchingEnded = onFetchingEnded
    self.onResultReceived = onResultReceived
    self.onAttemptFailed = onAttemptFailed
    self.onStoreRemoved = onStoreRemoved
  }
}

extension OperationEventHandler where State: QueryStateProtocol {
  @inlinable
  init(_ handler: QueryEventHandler<State>) {
    self.init(
      onStateChanged: handler.onStateChanged,
      onRunStarted: handler.onFetchingStarted,
      onRunEnded: handler.onFetchingEnded,
      onResultReceived: handler.onResultReceived,
      onAttemptFailed: handler.onAttemptFailed,
      onStoreRemoved: handler.onStoreRemoved
    )
  }
}
