public import OperationCore

/// Observes whether the application is active: in the foreground, running, at work.
public protocol ApplicationActivityObserver {
  /// Calls `handler` with the current value before it returns, and again with each change.
  ///
  /// A condition subscribes for a moment to read the current value. So answer from memory, and keep the underlying
  /// system resources open for as long as the observer lives. An observer that does not know the current value may
  /// report changes only: a condition then stays subscribed from its first check on, and remembers the last value. Call
  /// handlers in the order in which they were subscribed, without holding a lock. Do not call a handler after its
  /// subscription is cancelled.
  ///
  /// - Parameter handler: Receives whether the application is active.
  /// - Returns: A subscription whose cancellation or release ends the calls.
  func subscribe(_ handler: @escaping @Sendable (Bool) -> Void) -> OperationSubscription
}
