// developer.apple.com/documentation/watchkit/wkapplication

@_exported public import Foundation

public enum WKApplicationState: Int, Sendable {
  case active = 0
  case inactive = 1
  case background = 2
}

@MainActor open class WKApplication {
  open class func shared() -> WKApplication { leftOut() }

  open var applicationState: WKApplicationState { leftOut() }

  nonisolated public class var didBecomeActiveNotification: Notification.Name { leftOut() }

  nonisolated public class var willResignActiveNotification: Notification.Name { leftOut() }
}

func leftOut() -> Never { fatalError("Only Apple's systems have this function.") }
