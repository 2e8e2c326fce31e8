#if canImport(UIKit) && !os(watchOS)
  public import OperationCore
  public import UIKit

  /// Observes whether an application is active, by the notifications of UIKit.
  ///
  /// ```swift
  /// let activity = UIApplicationActivityObserver(.shared)
  /// let client = OperationClient(storeCreator: .default(activityObserver: activity))
  /// ```
  ///
  /// Make one, and keep it for as long as the application runs. It is compiled as on iOS, and was never run there.
  public final class UIApplicationActivityObserver: ApplicationActivityObserver, Sendable {
    private let activity: NotificationActivity

    /// Creates an observer.
    ///
    /// - Parameter application: The application of the process.
    @MainActor
    public init(_ application: UIApplication) {
      self.activity = NotificationActivity(
        isActive: application.applicationState == .active,
        active: UIApplication.didBecomeActiveNotification,
        inactive: UIApplication.willResignActiveNotification
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
