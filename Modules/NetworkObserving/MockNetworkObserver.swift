public import OperationCore

/// A network observer with a status that you set, for tests and previews.
///
/// ```swift
/// let network = MockNetworkObserver(initialStatus: .disconnected)
/// let query = query.rerunOnChange(of: .connected(to: network))
/// network.send(status: .connected)
/// ```
public final class MockNetworkObserver: NetworkObserver, Sendable {
  private let broadcast: Broadcast<NetworkConnectionStatus>

  /// Creates an observer.
  ///
  /// - Parameter initialStatus: The initial status.
  public init(initialStatus: NetworkConnectionStatus = .connected) {
    self.broadcast = Broadcast(initialStatus)
  }

  /// The status that was sent last.
  public var currentStatus: NetworkConnectionStatus { self.broadcast.value }

  /// The number of subscriptions that have not been cancelled.
  public var subscriberCount: Int { self.broadcast.subscriberCount }

  /// Sets the status, and calls the handlers on this thread.
  ///
  /// The handlers have been called when this returns, unless another call is delivering statuses: that one then
  /// delivers this status, too.
  ///
  /// - Parameter status: The new status.
  public func send(status: NetworkConnectionStatus) {
    self.broadcast.send(status)
  }

  /// Calls `handler` with the current status before it returns, and again with each status that is sent.
  ///
  /// - Parameter handler: Receives the status.
  /// - Returns: A subscription whose cancellation or release ends the calls.
  public func subscribe(
    with handler: @escaping @Sendable (NetworkConnectionStatus) -> Void
  ) -> OperationSubscription {
    self.broadcast.subscribe(handler)
  }
}
