// developer.apple.com/documentation/appkit/nsapplication

@_exported public import Foundation

@MainActor open class NSApplication {
  open class var shared: NSApplication { leftOut() }

  open var isActive: Bool { leftOut() }

  nonisolated public class var didBecomeActiveNotification: Notification.Name { leftOut() }

  nonisolated public class var didResignActiveNotification: Notification.Name { leftOut() }
}

func leftOut() -> Never { fatalError("Only Apple's systems have this function.") }
