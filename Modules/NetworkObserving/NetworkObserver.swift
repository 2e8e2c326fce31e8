public import OperationCore

/// Watches whether the network is there.
public protocol NetworkObserver {
  /// Calls `handler` with the current status before it returns, and again whenever the status changes.
  ///
  /// Conditions subscribe for a moment to learn the current status, so answer from memory, and keep what you watch open for
  /// as long as the observer lives. Call handlers in the order in which they came, and hold no lock meanwhile. None is
  /// called once its subscription is cancelled.
  func subscribe(with handler: @escaping @Sendable (NetworkConnectionStatus) -> Void) -> OperationSubscription
}

/// A network observer with its type erased.
public struct AnySendableNetworkObserver: NetworkObserver, Sendable {
  /// The observer.
  public let base: any NetworkObserver & Sendable

  /// Creates an observer that is `base`.
  public init(_ base: any NetworkObserver & Sendable) {
    self.base = base
  }

  /// Subscribes to the observer inside.
  public func subscribe(
    with handler: @escaping @Sendable (NetworkConnectionStatus) -> Void
  ) -> OperationSubscription {
    self.base.subscribe(with: handler)
  }
}
