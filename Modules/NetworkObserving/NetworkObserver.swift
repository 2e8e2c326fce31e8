public import OperationCore

/// Watches whether the network is there.
public protocol NetworkObserver {
  /// Calls `handler` with the current status before it returns, and again whenever the status changes.
  ///
  /// An observer that cannot tell the current status may tell changes alone: conditions stay subscribed to it from their
  /// first question on, and remember what it tells. Call handlers in the order in which they came, and hold no lock meanwhile. None is called once its subscription is
  /// cancelled.
  func subscribe(with handler: @escaping @Sendable (NetworkConnectionStatus) -> Void) -> OperationSubscription

  /// The current status.
  ///
  /// Conditions ask often, so answer from memory. By default it is what a subscriber hears at once, for which one subscribes
  /// for a moment; an observer that tells nothing at once counts as connected.
  var currentStatus: NetworkConnectionStatus { get }
}

extension NetworkObserver {
  /// What a subscriber hears at once; connected when that is nothing.
  public var currentStatus: NetworkConnectionStatus {
    ObservedValue.heardAtOnce { self.subscribe(with: $0) } ?? .connected
  }
}

/// An observer whose ``NetworkObserver/currentStatus`` is right whether it is subscribed to or not.
protocol StatusKeeping {}

extension MockNetworkObserver: StatusKeeping {}

#if os(Linux)
  extension NetlinkNetworkObserver: StatusKeeping {}
#endif

extension NetworkObserver {
  var isStatusReliable: Bool {
    (self as? AnySendableNetworkObserver)?.base.isStatusReliable ?? (self is any StatusKeeping)
  }
}

/// A network observer with its type erased.
public struct AnySendableNetworkObserver: NetworkObserver, Sendable {
  /// The observer.
  public let base: any NetworkObserver & Sendable

  /// Creates an observer that is `base`.
  public init(_ base: any NetworkObserver & Sendable) {
    self.base = base
  }

  /// The status that the observer inside tells.
  public var currentStatus: NetworkConnectionStatus { self.base.currentStatus }

  /// Subscribes to the observer inside.
  public func subscribe(
    with handler: @escaping @Sendable (NetworkConnectionStatus) -> Void
  ) -> OperationSubscription {
    self.base.subscribe(with: handler)
  }
}
