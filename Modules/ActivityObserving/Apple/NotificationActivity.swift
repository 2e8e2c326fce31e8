#if canImport(Darwin)
  internal import Foundation
  internal import OperationCore

  /// Follows the two notifications by which a system reports that an application is active, and that it is not any more.
  final class NotificationActivity: @unchecked Sendable {
    // Unchecked because of the tokens: `init` gets them, `deinit` gives them back, and nothing else uses them.
    private let tokens: [any NSObjectProtocol]
    private let isActive: Broadcast<Bool>

    /// - Parameters:
    ///   - isActive: Whether the application is active now.
    ///   - active: The notification that it has become active.
    ///   - inactive: The notification that it ceases to be.
    @MainActor
    init(isActive: Bool, active: Notification.Name, inactive: Notification.Name) {
      // The notifications are posted on the main thread, so none is missed between reading the value and this.
      let broadcast = Broadcast(isActive)
      self.isActive = broadcast
      self.tokens = [(active, true), (inactive, false)].map { name, isActive in
        NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { _ in broadcast.send(isActive) }
      }
    }

    deinit {
      for token in self.tokens { NotificationCenter.default.removeObserver(token) }
    }

    func subscribe(_ handler: @escaping @Sendable (Bool) -> Void) -> OperationSubscription {
      self.isActive.subscribe(handler)
    }
  }
#endif
