public import OperationCore

/// Watches whether the application is active: in the foreground, running, at work.
public protocol ApplicationActivityObserver {
  /// Calls `handler` with whether the application is active before it returns, and again whenever that changes.
  ///
  /// Conditions subscribe for a moment to learn the current value, so answer from memory, and keep what you watch open for
  /// as long as the observer lives. An observer that cannot tell the current value may tell changes alone: conditions stay
  /// subscribed to it from their first question on, and remember what it tells. Call handlers in the order in which they came, and hold no lock meanwhile. None is
  /// called once its subscription is cancelled.
  func subscribe(_ handler: @escaping @Sendable (Bool) -> Void) -> OperationSubscription
}
