public import OperationCore

/// An activity observer with a value that you set, for tests and previews.
///
/// ```swift
/// let activity = MockApplicationActivityObserver(isActive: false)
/// let query = query.rerunOnChange(of: .applicationIsActive(observer: activity))
/// activity.send(isActive: true)
/// ```
public final class MockApplicationActivityObserver: ApplicationActivityObserver, Sendable {
  private let broadcast: Broadcast<Bool>

  /// Creates an observer.
  ///
  /// - Parameter isActive: The initial value.
  public init(isActive: Bool = true) {
    self.broadcast = Broadcast(isActive)
  }

  /// The value that was sent last: whether the application is active.
  public var isActive: Bool { self.broadcast.value }

  /// The number of subscriptions that have not been cancelled.
  public var subscriberCount: Int { self.broadcast.subscriberCount }

  /// Sets whether the application is active, and calls the handlers.
  ///
  /// The handlers have been called when this returns, unless another call is delivering values: that one then delivers
  /// this value, too.
  ///
  /// - Parameter isActive: The new value.
  public func send(isActive: Bool) {
    self.broadcast.send(isActive)
  }

  /// Calls `handler` with the current value before it returns, and again with each value that is sent.
  ///
  /// - Parameter handler: Receives whether the application is active.
  /// - Returns: A subscription whose cancellation or release ends the calls.
  public func subscribe(_ handler: @escaping @Sendable (Bool) -> Void) -> OperationSubscription {
    self.broadcast.subscribe(handler)
  }
}
