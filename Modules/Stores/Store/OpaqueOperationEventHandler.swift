/// Closures that are called with the events of an ``OpaqueOperationStore``.
///
/// They are called in the order and on the threads that ``OperationEventHandler`` describes.
public struct OpaqueOperationEventHandler: Sendable {
  /// Called with the current state when the subscription begins, and after each change of the state.
  public var onStateChanged: (@Sendable (OpaqueOperationState, OperationContext) -> Void)?

  /// Called when the work of a run begins.
  public var onRunStarted: (@Sendable (OperationContext) -> Void)?

  /// Called when a run has ended, whether it succeeded, failed or was cancelled.
  public var onRunEnded: (@Sendable (OperationContext) -> Void)?

  /// Called with each result that a run yields or returns.
  ///
  /// A cancelled run has no result.
  public var onResultReceived: (@Sendable (Result<any Sendable, any Error>, OperationContext) -> Void)?

  /// Called when an attempt of a run has failed and another one follows, such as a retry.
  ///
  /// The attempt has the error and the date of the next attempt. The failure of the last attempt is the result of the
  /// run.
  public var onAttemptFailed: (@Sendable (OperationAttempt, OperationContext) -> Void)?

  /// Called once when the client no longer has the store, or when the store no longer exists.
  ///
  /// The store was removed with a call such as ``OperationClient/clearStores(matching:)``, or its last reference was
  /// released. A run that only subscribers waited for has been cancelled, so that the last state is not loading.
  public var onStoreRemoved: (@Sendable (OperationContext) -> Void)?

  /// Creates a handler.
  ///
  /// - Parameters:
  ///   - onStateChanged: Called with the current state and after each change of it.
  ///   - onRunStarted: Called when the work of a run begins.
  ///   - onRunEnded: Called when a run has ended.
  ///   - onResultReceived: Called with each result that a run yields or returns.
  ///   - onAttemptFailed: Called when an attempt has failed and another one follows.
  ///   - onStoreRemoved: Called once when the client no longer has the store, or when the store no longer exists.
  public init(
    onStateChanged: (@Sendable (OpaqueOperationState, OperationContext) -> Void)? = nil,
    onRunStarted: (@Sendable (OperationContext) -> Void)? = nil,
    onRunEnded: (@Sendable (OperationContext) -> Void)? = nil,
    onResultReceived: (@Sendable (Result<any Sendable, any Error>, OperationContext) -> Void)? = nil,
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

extension OperationEventHandler {
  /// Creates a handler that passes the events to an opaque one.
  init(_ handler: OpaqueOperationEventHandler) {
    self.init(
      onRunStarted: handler.onRunStarted,
      onRunEnded: handler.onRunEnded,
      onAttemptFailed: handler.onAttemptFailed,
      onStoreRemoved: handler.onStoreRemoved
    )
    if let onStateChanged = handler.onStateChanged {
      self.onStateChanged = { state, context in onStateChanged(OpaqueOperationState(state), context) }
    }
    if let onResultReceived = handler.onResultReceived {
      self.onResultReceived = { result, context in onResultReceived(result.erased, context) }
    }
  }
}
