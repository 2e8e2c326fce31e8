public import OperationCore

/// An activity observer whose answer you set, for tests and previews.
///
/// ```swift
/// let activity = MockApplicationActivityObserver(isActive: false)
/// let query = query.rerunOnChange(of: .applicationIsActive(observer: activity))
/// activity.send(isActive: true)
/// ```
public final class MockApplicationActivityObserver: ApplicationActivityObserver, Sendable {
  private let broadcast: Broadcast<Bool>

  /// Creates an observer.
  public init(isActive: Bool = true) {
    self.broadcast = Broadcast(isActive)
  }

  /// Whether the application is active, as was sent last.
  public var isActive: Bool { self.broadcast.value }

  /// How many subscriptions there are that have not been cancelled.
  public var subscriberCount: Int { self.broadcast.subscriberCount }

  /// Sets whether the application is active and calls the handlers, before it returns unless they are being called already.
  public func send(isActive: Bool) {
    self.broadcast.send(isActive)
  }

  /// Calls `handler` with whether the application is active before it returns, and again whenever that is sent.
  public func subscribe(_ handler: @escaping @Sendable (Bool) -> Void) -> OperationSubscription {
    self.broadcast.subscribe(handler)
  }
}
