public import OperationCore

/// Observes whether the network is available.
public protocol NetworkObserver {
  /// Calls `handler` with the current status before it returns, and again with each change.
  ///
  /// An observer that does not know the current status may report changes only: a condition then stays subscribed from
  /// its first check on, and remembers the last status. Call handlers in the order in which they were subscribed,
  /// without holding a lock. Do not call a handler after its subscription is cancelled.
  ///
  /// - Parameter handler: Receives the status.
  /// - Returns: A subscription whose cancellation or release ends the calls.
  func subscribe(with handler: @escaping @Sendable (NetworkConnectionStatus) -> Void) -> OperationSubscription

  /// The current status.
  ///
  /// Conditions read it often, so answer from memory. The default implementation subscribes for a moment and returns
  /// the status that the handler receives at once; an observer that reports nothing at once counts as connected.
  var currentStatus: NetworkConnectionStatus { get }
}

extension NetworkObserver {
  /// The status that a new subscriber receives at once; connected if it receives none.
  public var currentStatus: NetworkConnectionStatus {
    ObservedValue.initialValue { self.subscribe(with: $0) } ?? .connected
  }
}

/// An observer whose ``NetworkObserver/currentStatus`` is correct with and without subscribers.
protocol ReliableStatusObserver {}

extension MockNetworkObserver: ReliableStatusObserver {}

#if os(Linux)
  extension NetlinkNetworkObserver: ReliableStatusObserver {}
#endif

extension NetworkObserver {
  var isStatusReliable: Bool {
    (self as? AnySendableNetworkObserver)?.base.isStatusReliable ?? (self is any ReliableStatusObserver)
  }
}

/// A network observer with its type erased.
public struct AnySendableNetworkObserver: NetworkObserver, Sendable {
  /// The observer.
  public let base: any NetworkObserver & Sendable

  /// Creates an observer that forwards to `base`.
  public init(_ base: any NetworkObserver & Sendable) {
    self.base = base
  }

  /// The current status of `base`.
  public var currentStatus: NetworkConnectionStatus { self.base.currentStatus }

  /// Subscribes to `base`.
  public func subscribe(
    with handler: @escaping @Sendable (NetworkConnectionStatus) -> Void
  ) -> OperationSubscription {
    self.base.subscribe(with: handler)
  }
}
