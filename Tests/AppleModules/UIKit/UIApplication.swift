// developer.apple.com/documentation/uikit/uiapplication

@_exported public import Foundation

@MainActor open class UIApplication {
  public enum State: Int, Sendable {
    case active = 0
    case inactive = 1
    case background = 2
  }

  open class var shared: UIApplication { leftOut() }

  open var applicationState: UIApplication.State { leftOut() }

  nonisolated public class var didBecomeActiveNotification: Notification.Name { leftOut() }

  nonisolated public class var willResignActiveNotification: Notification.Name { leftOut() }
}

func leftOut() -> Never { fatalError("Only Apple's systems have this function.") }
