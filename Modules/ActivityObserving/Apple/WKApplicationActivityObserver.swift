#if os(watchOS)
  public import OperationCore
  public import WatchKit

  /// Observes whether an application is active, by the notifications of WatchKit.
  ///
  /// ```swift
  /// let activity = WKApplicationActivityObserver(.shared())
  /// let client = OperationClient(storeCreator: .default(activityObserver: activity))
  /// ```
  ///
  /// Make one, and keep it for as long as the application runs. It is compiled as on watchOS, and was never run there.
  public final class WKApplicationActivityObserver: ApplicationActivityObserver, Sendable {
    private let activity: NotificationActivity

    /// Creates an observer.
    ///
    /// - Parameter application: The application of the process.
    @MainActor
    public init(_ application: WKApplication) {
      self.activity = NotificationActivity(
        isActive: application.applicationState == .active,
        active: WKApplication.didBecomeActiveNotification,
        inactive: WKApplication.willResignActiveNotification
      )
    }

    /// Calls `handler` with the current value before it returns, and again with each change.
    ///
    /// - Parameter handler: Receives whether the application is active, on the main thread but for the first call.
    /// - Returns: A subscription whose cancellation or release ends the calls.
    public func subscribe(_ handler: @escaping @Sendable (Bool) -> Void) -> OperationSubscription {
      self.activity.subscribe(handler)
    }
  }
#endif
